/** Resources as rows of the northbound database. Pure. */
import { compact } from '@podwire/platform';
import { idsOf, valuesOf } from '../rows/columns.js';
import type { ColumnValue, RowName, WantedRows } from '../rows/description.js';
import type {
  Acl,
  AddressSet,
  DhcpOptions,
  LoadBalancer,
  LogicalRouter,
  LogicalRouterPort,
  LogicalSwitch,
  LogicalSwitchPort,
  PortGroup,
  QosRule,
  RouterNat,
  RouterPolicy,
  StaticRoute,
} from './resources.js';

const inSwitch = (name: string): RowName => ({ table: 'Logical_Switch', name });
const inRouter = (name: string): RowName => ({ table: 'Logical_Router', name });
const inGroup = (name: string): RowName => ({ table: 'Port_Group', name });

const toBalancers = (names: readonly string[]): ColumnValue => ({ table: 'Load_Balancer', toEach: names });

export function switchRows(given: LogicalSwitch): WantedRows {
  const { name, otherConfig = {}, loadBalancers = [] } = given;
  const columns = {
    ...valuesOf({ other_config: otherConfig }),
    load_balancer: toBalancers(loadBalancers),
  };
  return [{ table: 'Logical_Switch', name, columns, ...idsOf(given) }];
}

export function switchPortRows(port: LogicalSwitchPort): WantedRows {
  const { name, switch: of, type = '', addresses, portSecurity = [], options = {}, groups = [] } = port;
  const { tag, enabled, dhcpv4Options, dhcpv6Options } = port;
  const columns = {
    ...valuesOf({ type, addresses, port_security: portSecurity, options, tag, enabled }),
    dhcpv4_options: { table: 'DHCP_Options', to: dhcpv4Options },
    dhcpv6_options: { table: 'DHCP_Options', to: dhcpv6Options },
  };
  return [{ table: 'Logical_Switch_Port', name, parent: inSwitch(of), groups, columns, ...idsOf(port) }];
}

export function routerRows(router: LogicalRouter): WantedRows {
  const { name, options = {}, loadBalancers = [] } = router;
  const columns = { ...valuesOf({ options }), load_balancer: toBalancers(loadBalancers) };
  return [{ table: 'Logical_Router', name, columns, ...idsOf(router) }];
}

export function routerPortRows(port: LogicalRouterPort): WantedRows {
  const { name, router, mac, networks, ipv6RaConfigs = {}, options = {} } = port;
  const columns = valuesOf({ mac, networks, ipv6_ra_configs: ipv6RaConfigs, options });
  return [{ table: 'Logical_Router_Port', name, parent: inRouter(router), columns, ...idsOf(port) }];
}

export function staticRouteRows(route: StaticRoute): WantedRows {
  const { name, router, prefix, nextHop, policy, outputPort, routeTable = '', options = {} } = route;
  const columns = valuesOf({
    ...{ ip_prefix: prefix, nexthop: nextHop, policy, output_port: outputPort },
    ...{ route_table: routeTable, options },
  });
  return [{ table: 'Logical_Router_Static_Route', name, parent: inRouter(router), columns, ...idsOf(route) }];
}

export function routerPolicyRows(policy: RouterPolicy): WantedRows {
  const { name, router, priority, match, action, nextHops = [], options = {} } = policy;
  const columns = valuesOf({ priority, match, action, nexthops: nextHops, options });
  return [{ table: 'Logical_Router_Policy', name, parent: inRouter(router), columns, ...idsOf(policy) }];
}

export function routerNatRows(nat: RouterNat): WantedRows {
  const { name, router, type, externalIp, logicalIp, logicalPort, externalMac, options = {} } = nat;
  const columns = valuesOf({
    ...{ type, external_ip: externalIp, logical_ip: logicalIp, options },
    ...{ logical_port: logicalPort, external_mac: externalMac },
  });
  return [{ table: 'NAT', name, parent: inRouter(router), columns, ...idsOf(nat) }];
}

export const addressSetRows = ({ name, addresses, ...rest }: AddressSet): WantedRows => [
  { table: 'Address_Set', name, columns: valuesOf({ addresses }), ...idsOf(rest) },
];

export const portGroupRows = ({ name, ...rest }: PortGroup): WantedRows => [
  { table: 'Port_Group', name, columns: {}, ...idsOf(rest) },
];

export const dhcpOptionsRows = ({ name, cidr, options = {}, ...rest }: DhcpOptions): WantedRows => [
  { table: 'DHCP_Options', name, columns: valuesOf({ cidr, options }), ...idsOf(rest) },
];

export function aclRows(acl: Acl): WantedRows {
  const { name, on, direction, priority, match, action, log = false, severity, options = {} } = acl;
  const columns = valuesOf({
    ...{ direction, priority, match, action, log, severity, options },
    ...{ name: acl.logName, meter: acl.logMeter },
  });
  const parent = 'switch' in on ? inSwitch(on.switch) : inGroup(on.portGroup);
  return [{ table: 'ACL', name, parent, columns, ...idsOf(acl) }];
}

export function qosRuleRows(rule: QosRule): WantedRows {
  const { name, switch: of, direction, priority, match, bandwidth } = rule;
  const columns = valuesOf({ direction, priority, match, bandwidth: compact(bandwidth) });
  return [{ table: 'QoS', name, parent: inSwitch(of), columns, ...idsOf(rule) }];
}

export function loadBalancerRows(loadBalancer: LoadBalancer): WantedRows {
  const { name, vips, protocol, selectionFields = [], options = {} } = loadBalancer;
  const backends = Object.entries(vips).map(([vip, addresses]) => [vip, addresses.join(',')] as const);
  const columns = valuesOf({
    ...{ vips: Object.fromEntries(backends), protocol, options },
    selection_fields: selectionFields,
  });
  return [{ table: 'Load_Balancer', name, columns, ...idsOf(loadBalancer) }];
}
