import type { DatabaseDescription } from '../rows/description.js';

/** The tables of OVN's northbound database (ovn-nb(5)) in which our resources are. */
export const northboundDatabase: DatabaseDescription = {
  database: 'OVN_Northbound',
  tables: {
    // No resource: how far ovn-northd and the hypervisors are.
    NB_Global: { word: 'database', columns: [], reports: ['sb_cfg', 'hv_cfg'] },
    Address_Set: { word: 'address set', name: 'name', columns: ['addresses', 'external_ids'] },
    DHCP_Options: { word: 'DHCP options', columns: ['cidr', 'options', 'external_ids'] },
    Port_Group: { word: 'port group', name: 'name', columns: ['ports', 'acls', 'external_ids'] },
    Load_Balancer: {
      ...{ word: 'load balancer', name: 'name' },
      columns: ['vips', 'protocol', 'selection_fields', 'options', 'external_ids'],
    },
    Logical_Switch: {
      ...{ word: 'switch', name: 'name' },
      columns: ['ports', 'acls', 'qos_rules', 'load_balancer', 'other_config', 'external_ids'],
    },
    Logical_Router: {
      ...{ word: 'router', name: 'name' },
      columns: ['ports', 'static_routes', 'policies', 'nat', 'load_balancer', 'options', 'external_ids'],
    },
    Logical_Router_Port: {
      ...{ word: 'router port', name: 'name' },
      parents: [{ table: 'Logical_Router', column: 'ports' }],
      columns: ['mac', 'networks', 'ipv6_ra_configs', 'options', 'external_ids'],
    },
    Logical_Switch_Port: {
      ...{ word: 'switch port', name: 'name' },
      parents: [{ table: 'Logical_Switch', column: 'ports' }],
      groups: { table: 'Port_Group', column: 'ports' },
      columns: [
        ...['type', 'addresses', 'port_security', 'options', 'tag', 'enabled', 'dhcpv4_options'],
        ...['dhcpv6_options', 'external_ids'],
      ],
    },
    ACL: {
      word: 'ACL',
      parents: [
        { table: 'Logical_Switch', column: 'acls' },
        { table: 'Port_Group', column: 'acls' },
      ],
      columns: [
        ...['direction', 'priority', 'match', 'action', 'log', 'severity', 'name', 'meter', 'options'],
        'external_ids',
      ],
    },
    QoS: {
      word: 'QoS rule',
      parents: [{ table: 'Logical_Switch', column: 'qos_rules' }],
      columns: ['direction', 'priority', 'match', 'bandwidth', 'external_ids'],
    },
    Logical_Router_Static_Route: {
      word: 'static route',
      parents: [{ table: 'Logical_Router', column: 'static_routes' }],
      columns: ['ip_prefix', 'nexthop', 'policy', 'output_port', 'route_table', 'options', 'external_ids'],
    },
    Logical_Router_Policy: {
      word: 'policy',
      parents: [{ table: 'Logical_Router', column: 'policies' }],
      columns: ['priority', 'match', 'action', 'nexthops', 'options', 'external_ids'],
    },
    NAT: {
      word: 'NAT',
      parents: [{ table: 'Logical_Router', column: 'nat' }],
      columns: [
        ...['type', 'external_ip', 'logical_ip', 'logical_port', 'external_mac', 'options', 'external_ids'],
      ],
    },
  },
};
