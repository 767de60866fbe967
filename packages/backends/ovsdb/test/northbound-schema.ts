/** The tables of OVN's northbound schema in which resources are, with the columns that they have. */
import { flag, integer, oneOf, optional, pairs, rowsOf, setOf, text } from './schema-parts.js';

const texts = setOf(text);
const optionalText = optional(text);
const ids = { external_ids: pairs };
const common = { options: pairs, ...ids };
const oneWordOf = (...values: readonly string[]): object => ({
  type: { key: { type: 'string', enum: ['set', values] } },
});
const dhcp = optional({ type: 'uuid', refTable: 'DHCP_Options', refType: 'weak' });

export const northboundSchema = {
  name: 'OVN_Northbound',
  version: '7.0.0',
  tables: {
    NB_Global: {
      ...{ isRoot: true, maxRows: 1 },
      columns: { nb_cfg: integer, sb_cfg: integer, hv_cfg: integer, ...common },
    },
    Address_Set: { isRoot: true, indexes: [['name']], columns: { name: text, addresses: texts, ...ids } },
    DHCP_Options: { isRoot: true, columns: { cidr: text, ...common } },
    Port_Group: {
      ...{ isRoot: true, indexes: [['name']] },
      columns: { name: text, ports: rowsOf('Logical_Switch_Port', 'weak'), ...ids },
    },
    Logical_Switch: {
      isRoot: true,
      columns: { name: text, ports: rowsOf('Logical_Switch_Port'), other_config: pairs, ...ids },
    },
    Logical_Router: {
      isRoot: true,
      columns: {
        ...{ name: text, ports: rowsOf('Logical_Router_Port'), nat: rowsOf('NAT'), ...common },
        static_routes: rowsOf('Logical_Router_Static_Route'),
        policies: rowsOf('Logical_Router_Policy'),
      },
    },
    Logical_Router_Port: {
      indexes: [['name']],
      columns: {
        ...{ name: text, mac: text, ipv6_ra_configs: pairs, ...common },
        networks: { type: { key: 'string', min: 1, max: 'unlimited' } },
      },
    },
    Logical_Switch_Port: {
      indexes: [['name']],
      columns: {
        ...{ name: text, type: text, addresses: texts, port_security: texts, up: optional(flag), ...common },
        ...{ enabled: optional(flag), dhcpv4_options: dhcp, dhcpv6_options: dhcp },
        tag: optional({ type: 'integer', minInteger: 1, maxInteger: 4095 }),
      },
    },
    Logical_Router_Static_Route: {
      columns: {
        ...{ ip_prefix: text, nexthop: text, output_port: optionalText, route_table: text, ...common },
        policy: oneOf('src-ip', 'dst-ip'),
      },
    },
    Logical_Router_Policy: {
      columns: {
        priority: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 32767 } } },
        ...{ match: text, action: oneWordOf('allow', 'drop', 'reroute'), nexthops: texts, ...common },
      },
    },
    NAT: {
      columns: {
        ...{ type: oneWordOf('snat', 'dnat', 'dnat_and_snat'), external_ip: text, logical_ip: text },
        ...{ logical_port: optionalText, external_mac: optionalText, ...common },
      },
    },
  },
};
