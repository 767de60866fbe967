import * as is from '@podwire/engine/checks';
import { externalIds, pairs, text } from '../rows/checks.js';
import { defineRowKindsOf, type RowKind } from '../rows/kind.js';
import type {
  Acl,
  AddressSet,
  DhcpOptions,
  LoadBalancer,
  LogicalRouter,
  LogicalRouterPort,
  LogicalSwitch,
  LogicalSwitchPort,
  NorthboundResources,
  PortGroup,
  QosRule,
  RouterNat,
  RouterPolicy,
  StaticRoute,
} from './resources.js';
import {
  aclRows,
  addressSetRows,
  dhcpOptionsRows,
  loadBalancerRows,
  portGroupRows,
  qosRuleRows,
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
const logName = is.textLike((value) => /^[^\0]{1,63}$/.test(value), 'no text of 1 to 63 characters');
const upTo = is.numberUpTo(4_095);
const tag: is.Check = (value) => (value === 0 ? 'no number of 1 to 4095' : upTo(value));
const optionalText = is.optional(text);
const texts = is.listOf(text);
const optionalTexts = is.optional(texts);
const common = { options: pairs, externalIds };
const priority = is.numberUpTo(32_767);

const logicalSwitch = define<LogicalSwitch>({
  kind: 'logical-switch',
  check: is.resource<LogicalSwitch>({
    ...{ name: text, otherConfig: pairs, loadBalancers: optionalTexts, externalIds },
  }),
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
  check: is.resource<LogicalRouter>({ name: text, loadBalancers: optionalTexts, ...common }),
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
    ...{ name: text, router: text, priority, match, nextHops: optionalTexts },
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

const inSwitch = is.record({ switch: text });
const inGroup = is.record({ portGroup: matchName });
const aclPlace: is.Check = (value) => {
  const { switch: of, portGroup } = Object(value) as {
    readonly switch?: unknown;
    readonly portGroup?: unknown;
  };
  if ((of === undefined) === (portGroup === undefined)) return 'neither a switch nor a port group, or both';
  return of === undefined ? inGroup(value) : inSwitch(value);
};

const acl = define<Acl>({
  kind: 'acl',
  check: is.resource<Acl>({
    ...{ name: text, on: aclPlace, direction: is.oneOf('to-lport', 'from-lport'), priority, match },
    action: is.oneOf('allow', 'allow-related', 'allow-stateless', 'drop', 'reject'),
    severity: is.optional(is.oneOf('alert', 'warning', 'notice', 'info', 'debug')),
    ...{ log: is.optional(is.flag), logName: is.optional(logName), logMeter: optionalText, ...common },
  }),
  describe: ({ name, on, direction, priority: number, action }) =>
    `ACL ${name} of ${'switch' in on ? on.switch : on.portGroup} (${direction}, ${number}, ${action})`,
  rows: aclRows,
});

/** Of `bandwidth` (ovn-nb(5)). */
const upToMost = is.numberUpTo(2 ** 32 - 1);
const amount: is.Check = (value) => (value === 0 ? 'no number from 1 on' : upToMost(value));

const qosRule = define<QosRule>({
  kind: 'qos-rule',
  check: is.resource<QosRule>({
    ...{ name: text, switch: text, direction: is.oneOf('to-lport', 'from-lport'), priority, match },
    ...{ bandwidth: is.record({ rate: amount, burst: is.optional(amount) }), externalIds },
  }),
  describe: ({ name, switch: of, direction, bandwidth: { rate } }) =>
    `QoS rule ${name} of ${of} (${direction}, ${rate} kbit/s)`,
  rows: qosRuleRows,
});

const backends = is.listOf(text);
const vips: is.Check = (value) =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? 'no object with lists'
    : is.record(Object.fromEntries(Object.keys(value).map((vip) => [vip, backends])))(value);

const loadBalancer = define<LoadBalancer>({
  kind: 'load-balancer',
  check: is.resource<LoadBalancer>({
    ...{ name: text, vips, protocol: is.optional(is.oneOf('tcp', 'udp', 'sctp')), ...common },
    selectionFields: is.optional(
      is.listOf(is.oneOf('eth_src', 'eth_dst', 'ip_src', 'ip_dst', 'tp_src', 'tp_dst')),
    ),
  }),
  describe: ({ name }) => `load balancer ${name}`,
  rows: loadBalancerRows,
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
  acl,
  'qos-rule': qosRule,
  'load-balancer': loadBalancer,
} satisfies { [K in keyof NorthboundResources]: RowKind<NorthboundResources[K]> };
