/** Resources as rows of the northbound database. Pure. */
import { idsOf, valuesOf } from '../rows/columns.js';
import type { WantedRows } from '../rows/description.js';
import type {
  AddressSet,
  DhcpOptions,
  LogicalRouter,
  LogicalRouterPort,
  LogicalSwitch,
  LogicalSwitchPort,
  PortGroup,
  RouterNat,
  RouterPolicy,
  StaticRoute,
} from './resources.js';

export const switchRows = ({ name, otherConfig = {}, ...rest }: LogicalSwitch): WantedRows => [
  { table: 'Logical_Switch', name, columns: valuesOf({ other_config: otherConfig }), ...idsOf(rest) },
];

export function switchPortRows(port: LogicalSwitchPort): WantedRows {
  const { name, switch: parent, type = '', addresses, portSecurity = [], options = {}, groups = [] } = port;
  const { tag, enabled, dhcpv4Options, dhcpv6Options } = port;
  const columns = {
    ...valuesOf({ type, addresses, port_security: portSecurity, options, tag, enabled }),
    dhcpv4_options: { table: 'DHCP_Options', to: dhcpv4Options },
    dhcpv6_options: { table: 'DHCP_Options', to: dhcpv6Options },
  };
  return [{ table: 'Logical_Switch_Port', name, parent, groups, columns, ...idsOf(port) }];
}

export const routerRows = ({ name, options = {}, ...rest }: LogicalRouter): WantedRows => [
  { table: 'Logical_Router', name, columns: valuesOf({ options }), ...idsOf(rest) },
];

export function routerPortRows(port: LogicalRouterPort): WantedRows {
  const { name, router: parent, mac, networks, ipv6RaConfigs = {}, options = {} } = port;
  const columns = valuesOf({ mac, networks, ipv6_ra_configs: ipv6RaConfigs, options });
  return [{ table: 'Logical_Router_Port', name, parent, columns, ...idsOf(port) }];
}

export function staticRouteRows(route: StaticRoute): WantedRows {
  const { name, router: parent, prefix, nextHop, policy, outputPort, routeTable = '', options = {} } = route;
  const columns = valuesOf({
    ...{ ip_prefix: prefix, nexthop: nextHop, policy, output_port: outputPort },
    ...{ route_table: routeTable, options },
  });
  return [{ table: 'Logical_Router_Static_Route', name, parent, columns, ...idsOf(route) }];
}

export function routerPolicyRows(policy: RouterPolicy): WantedRows {
  const { name, router: parent, priority, match, action, nextHops = [], options = {} } = policy;
  const columns = valuesOf({ priority, match, action, nexthops: nextHops, options });
  return [{ table: 'Logical_Router_Policy', name, parent, columns, ...idsOf(policy) }];
}

export function routerNatRows(nat: RouterNat): WantedRows {
  const { name, router: parent, type, externalIp, logicalIp, logicalPort, externalMac, options = {} } = nat;
  const columns = valuesOf({
    ...{ type, external_ip: externalIp, logical_ip: logicalIp, options },
    ...{ logical_port: logicalPort, external_mac: externalMac },
  });
  return [{ table: 'NAT', name, parent, columns, ...idsOf(nat) }];
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
