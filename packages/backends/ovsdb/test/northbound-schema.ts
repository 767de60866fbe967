/** The tables of OVN's northbound schema in which resources are, with the columns that they have. */
import { flag, integer, oneOf, optional, pairs, rowsOf, setOf, text } from './schema-parts.js';

const texts = setOf(text);
const optionalText = optional(text);
const ids = { external_ids: pairs };
const common = { options: pairs, ...ids };
const wordOf = (...values: readonly string[]): object => ({ type: 'string', enum: ['set', values] });
const oneWordOf = (...values: readonly string[]): object => ({ type: { key: wordOf(...values) } });
const priority = { type: { key: { type: 'integer', minInteger: 0, maxInteger: 32767 } } };
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
      columns: { name: text, ports: rowsOf('Logical_Switch_Port', 'weak'), acls: rowsOf('ACL'), ...ids },
    },
    Load_Balancer: {
      isRoot: true,
      columns: {
        ...{ name: text, vips: pairs, protocol: oneOf('tcp', 'udp', 'sctp'), ...common },
        selection_fields: setOf(wordOf('eth_src', 'eth_dst', 'ip_src', 'ip_dst', 'tp_src', 'tp_dst')),
      },
    },
    Logical_Switch: {
      isRoot: true,
      columns: {
        ...{ name: text, ports: rowsOf('Logical_Switch_Port'), acls: rowsOf('ACL'), other_config: pairs },
        ...{ qos_rules: rowsOf('QoS'), load_balancer: rowsOf('Load_Balancer', 'weak'), ...ids },
      },
    },
    Logical_Router: {
      isRoot: true,
      columns: {
        ...{ name: text, ports: rowsOf('Logical_Router_Port'), nat: rowsOf('NAT'), ...common },
        static_routes: rowsOf('Logical_Router_Static_Route'),
        policies: rowsOf('Logical_Router_Policy'),
        load_balancer: rowsOf('Load_Balancer', 'weak'),
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
        ...{ priority, match: text, action: oneWordOf('allow', 'drop', 'reroute'), nexthops: texts },
        ...common,
      },
    },
    ACL: {
      columns: {
        ...{ priority, match: text, direction: oneWordOf('from-lport', 'to-lport'), log: flag, ...common },
        action: oneWordOf('allow', 'allow-related', 'allow-stateless', 'drop', 'reject'),
        severity: oneOf('alert', 'warning', 'notice', 'info', 'debug'),
        ...{ name: optional({ type: 'string', maxLength: 63 }), meter: optionalText },
      },
    },
    QoS: {
      columns: {
        ...{ priority, match: text, direction: oneWordOf('from-lport', 'to-lport'), ...ids },
        bandwidth: {
          type: {
            key: wordOf('rate', 'burst'),
            value: { type: 'integer', minInteger: 1, maxInteger: 4_294_967_295 },
            ...{ min: 0, max: 'unlimited' },
          },
        },
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
