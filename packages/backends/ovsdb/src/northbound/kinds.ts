import * as is from '@podwire/engine/checks';
import { externalIds, pairs, text } from '../rows/checks.js';
import { defineRowKindsOf, type RowKind } from '../rows/kind.js';
import type {
  AddressSet,
  DhcpOptions,
  LogicalRouter,
  LogicalRouterPort,
  LogicalSwitch,
  LogicalSwitchPort,
  NorthboundResources,
  PortGroup,
  RouterNat,
  RouterPolicy,
  StaticRoute,
} from './resources.js';
import {
  addressSetRows,
  dhcpOptionsRows,
  portGroupRows,
  routerNatRows,
  routerPolicyRows,
  routerPortRows,
  routerRows,
  staticRouteRows,
  switchPortRows,
  switchRows,
} from './rows.js';
import { northboundDatabase } from './tables.js';

export const NORTHBOUND = 'ovn';

const define = defineRowKindsOf({ database: northboundDatabase, backend: NORTHBOUND });

/** ovn-northd passes over other names where a match has them, and says so only in its log. */
const matchName = is.textLike(
  (value) => /^[a-zA-Z_.][\w.]{0,254}$/.test(value),
  'no name of letters, digits, _ and .',
);
const match = is.textLike((value) => value !== '' && !value.includes('\0'), 'no match');
const upTo = is.numberUpTo(4_095);
const tag: is.Check = (value) => (value === 0 ? 'no number of 1 to 4095' : upTo(value));
const optionalText = is.optional(text);
const texts = is.listOf(text);
const optionalTexts = is.optional(texts);
const common = { options: pairs, externalIds };

const logicalSwitch = define<LogicalSwitch>({
  kind: 'logical-switch',
  check: is.resource<LogicalSwitch>({ name: text, otherConfig: pairs, externalIds }),
  describe: ({ name }) => `logical switch ${name}`,
  rows: switchRows,
});

const logicalSwitchPort = define<LogicalSwitchPort>({
  kind: 'logical-switch-port',
  check: is.resource<LogicalSwitchPort>({
    ...{ name: text, switch: text, type: optionalText, addresses: texts, portSecurity: optionalTexts },
    ...{ tag: is.optional(tag), enabled: is.optional(is.flag), dhcpv4Options: optionalText },
    ...{ dhcpv6Options: optionalText, groups: is.optional(is.listOf(matchName)), ...common },
  }),
  describe: ({ name, switch: of }) => `port ${name} of logical switch ${of}`,
  rows: switchPortRows,
});

const logicalRouter = define<LogicalRouter>({
  kind: 'logical-router',
  check: is.resource<LogicalRouter>({ name: text, ...common }),
  describe: ({ name }) => `logical router ${name}`,
  rows: routerRows,
});

const logicalRouterPort = define<LogicalRouterPort>({
  kind: 'logical-router-port',
  check: is.resource<LogicalRouterPort>({
    ...{ name: text, router: text, mac: text, networks: is.listOf(text, 1), ipv6RaConfigs: pairs },
    ...common,
  }),
  describe: ({ name, router }) => `port ${name} of logical router ${router}`,
  rows: routerPortRows,
});

const staticRoute = define<StaticRoute>({
  kind: 'static-route',
  check: is.resource<StaticRoute>({
    ...{ name: text, router: text, prefix: text, nextHop: text, outputPort: optionalText },
    ...{ policy: is.optional(is.oneOf('src-ip', 'dst-ip')), routeTable: optionalText, ...common },
  }),
  describe: ({ prefix, nextHop, router, policy }) =>
    `static route ${policy === 'src-ip' ? 'from ' : ''}${prefix} via ${nextHop} of ${router}`,
  rows: staticRouteRows,
});

const routerPolicy = define<RouterPolicy>({
  kind: 'router-policy',
  check: is.resource<RouterPolicy>({
    ...{ name: text, router: text, priority: is.numberUpTo(32_767), match, nextHops: optionalTexts },
    ...{ action: is.oneOf('allow', 'drop', 'reroute'), ...common },
  }),
  describe: ({ name, router, priority, action }) => `policy ${name} of ${router} (${priority}, ${action})`,
  rows: routerPolicyRows,
});

const routerNat = define<RouterNat>({
  kind: 'router-nat',
  check: is.resource<RouterNat>({
    ...{ name: text, router: text, type: is.oneOf('snat', 'dnat', 'dnat_and_snat'), externalIp: text },
    ...{ logicalIp: text, logicalPort: optionalText, externalMac: optionalText, ...common },
  }),
  describe: ({ type, externalIp, logicalIp, router }) => `${type} ${externalIp} ${logicalIp} of ${router}`,
  rows: routerNatRows,
});

const addressSet = define<AddressSet>({
  kind: 'address-set',
  check: is.resource<AddressSet>({ name: matchName, addresses: texts, externalIds }),
  describe: ({ name }) => `address set ${name}`,
  rows: addressSetRows,
});

const portGroup = define<PortGroup>({
  kind: 'port-group',
  check: is.resource<PortGroup>({ name: matchName, externalIds }),
  describe: ({ name }) => `port group ${name}`,
  rows: portGroupRows,
});

const dhcpOptions = define<DhcpOptions>({
  kind: 'dhcp-options',
  check: is.resource<DhcpOptions>({ name: text, cidr: text, ...common }),
  describe: ({ name, cidr }) => `DHCP options ${name} of ${cidr}`,
  rows: dhcpOptionsRows,
});

/** Every kind of the northbound database, by name. */
export const northboundKinds = {
  'logical-switch': logicalSwitch,
  'logical-switch-port': logicalSwitchPort,
  'logical-router': logicalRouter,
  'logical-router-port': logicalRouterPort,
  'static-route': staticRoute,
  'router-policy': routerPolicy,
  'router-nat': routerNat,
  'address-set': addressSet,
  'port-group': portGroup,
  'dhcp-options': dhcpOptions,
} satisfies { [K in keyof NorthboundResources]: RowKind<NorthboundResources[K]> };
