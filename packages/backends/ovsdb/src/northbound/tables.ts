import type { DatabaseDescription } from '../rows/description.js';

/** The tables of OVN's northbound database (ovn-nb(5)) in which our resources are. */
export const northboundDatabase: DatabaseDescription = {
  database: 'OVN_Northbound',
  tables: {
    // No resource: how far ovn-northd and the hypervisors are.
    NB_Global: { word: 'database', columns: [], reports: ['sb_cfg', 'hv_cfg'] },
    Address_Set: { word: 'address set', name: 'name', columns: ['addresses', 'external_ids'] },
    DHCP_Options: { word: 'DHCP options', columns: ['cidr', 'options', 'external_ids'] },
    Port_Group: { word: 'port group', name: 'name', columns: ['ports', 'external_ids'] },
    Logical_Switch: { word: 'switch', name: 'name', columns: ['ports', 'other_config', 'external_ids'] },
    Logical_Router: {
      ...{ word: 'router', name: 'name' },
      columns: ['ports', 'static_routes', 'policies', 'nat', 'options', 'external_ids'],
    },
    Logical_Router_Port: {
      ...{ word: 'router port', name: 'name' },
      parent: { table: 'Logical_Router', column: 'ports' },
      columns: ['mac', 'networks', 'ipv6_ra_configs', 'options', 'external_ids'],
    },
    Logical_Switch_Port: {
      ...{ word: 'switch port', name: 'name' },
      parent: { table: 'Logical_Switch', column: 'ports' },
      groups: { table: 'Port_Group', column: 'ports' },
      columns: [
        ...['type', 'addresses', 'port_security', 'options', 'tag', 'enabled', 'dhcpv4_options'],
        ...['dhcpv6_options', 'external_ids'],
      ],
    },
    Logical_Router_Static_Route: {
      word: 'static route',
      parent: { table: 'Logical_Router', column: 'static_routes' },
      columns: ['ip_prefix', 'nexthop', 'policy', 'output_port', 'route_table', 'options', 'external_ids'],
    },
    Logical_Router_Policy: {
      word: 'policy',
      parent: { table: 'Logical_Router', column: 'policies' },
      columns: ['priority', 'match', 'action', 'nexthops', 'options', 'external_ids'],
    },
    NAT: {
      word: 'NAT',
      parent: { table: 'Logical_Router', column: 'nat' },
      columns: [
        ...['type', 'external_ip', 'logical_ip', 'logical_port', 'external_mac', 'options', 'external_ids'],
      ],
    },
  },
};
