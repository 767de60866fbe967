/** The tables of Open vSwitch's schema in which resources are, with the columns that they have. */
import { flag, integer, oneOf, optional, pairs, rowsOf, setOf, text } from './schema-parts.js';

const optionalText = optional({ type: 'string' });
const optionalCount = optional({ type: 'integer', minInteger: 0 });
const vlan = { type: 'integer', minInteger: 0, maxInteger: 4095 };
const name = { type: 'string', mutable: false };
const rate = { type: { key: { type: 'integer', minInteger: 0 } } };
const common = { other_config: pairs, external_ids: pairs };

const queues = {
  type: {
    key: { type: 'integer', minInteger: 0, maxInteger: 4_294_967_295 },
    value: { type: 'uuid', refTable: 'Queue' },
    min: 0,
    max: 'unlimited',
  },
};

export const switchSchema = {
  name: 'Open_vSwitch',
  version: '8.0.0',
  tables: {
    Open_vSwitch: {
      ...{ isRoot: true, maxRows: 1 },
      columns: { bridges: rowsOf('Bridge'), external_ids: pairs, next_cfg: integer, cur_cfg: integer },
    },
    Bridge: {
      indexes: [['name']],
      columns: {
        ...{ name, datapath_type: text, fail_mode: oneOf('standalone', 'secure'), ...common },
        ...{ protocols: setOf({ type: 'string' }), stp_enable: flag, rstp_enable: flag },
        ...{ mcast_snooping_enable: flag, ports: rowsOf('Port'), mirrors: rowsOf('Mirror') },
      },
    },
    Port: {
      indexes: [['name']],
      columns: {
        ...{ name, tag: optional(vlan), trunks: setOf(vlan), ...common },
        interfaces: { type: { key: { type: 'uuid', refTable: 'Interface' }, min: 1, max: 'unlimited' } },
        vlan_mode: oneOf('trunk', 'access', 'native-tagged', 'native-untagged', 'dot1q-tunnel'),
        bond_mode: oneOf('balance-tcp', 'balance-slb', 'active-backup'),
        ...{ lacp: oneOf('active', 'passive', 'off'), qos: optional({ type: 'uuid', refTable: 'QoS' }) },
      },
    },
    Interface: {
      indexes: [['name']],
      columns: {
        ...{ name, type: text, options: pairs, mac: optionalText, ...common },
        ...{
          mtu_request: optionalCount,
          ofport_request: optionalCount,
          ofport: optional({ type: 'integer' }),
        },
        ...{ error: optionalText },
        ...{ ingress_policing_rate: rate, ingress_policing_burst: rate },
      },
    },
    QoS: { isRoot: true, columns: { type: text, queues, ...common } },
    Queue: { isRoot: true, columns: { dscp: optionalCount, ...common } },
    Mirror: {
      columns: {
        ...{ name: text, select_all: flag, external_ids: pairs, select_vlan: setOf(vlan) },
        ...{ select_src_port: rowsOf('Port', 'weak'), select_dst_port: rowsOf('Port', 'weak') },
        output_port: optional({ type: 'uuid', refTable: 'Port', refType: 'weak' }),
        output_vlan: optional(vlan),
      },
    },
  },
};
