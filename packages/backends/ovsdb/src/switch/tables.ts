import type { DatabaseDescription } from '../rows/description.js';

/** The name of the backend. */
export const SWITCH = 'ovs';

/** Key of `external_ids` of an interface: ovn-controller writes `true` (ovn-controller(8)). */
export const INSTALLED = 'ovn-installed';

/** Key of `external_ids` of a patch port that ovn-controller makes in a bridge of its mappings (ovn-controller(8)). */
const LOCALNET_PORT = 'ovn-localnet-port';

/** The tables of Open vSwitch (ovs-vswitchd.conf.db(5)) in which our resources are. */
export const switchDatabase: DatabaseDescription = {
  database: 'Open_vSwitch',
  progress: { table: 'Open_vSwitch', asked: 'next_cfg', done: 'cur_cfg' },
  settings: 'Open_vSwitch',
  tables: {
    Open_vSwitch: { word: 'switch', columns: ['bridges', 'external_ids'], reports: ['cur_cfg'] },
    Queue: { word: 'queue', columns: ['dscp', 'other_config', 'external_ids'] },
    QoS: { word: 'QoS', columns: ['type', 'queues', 'other_config', 'external_ids'] },
    Interface: {
      word: 'interface',
      name: 'name',
      columns: [
        ...['type', 'options', 'mac', 'mtu_request', 'ofport_request', 'ingress_policing_rate'],
        ...['ingress_policing_burst', 'other_config', 'external_ids'],
      ],
      reports: ['ofport', 'error'],
      reportedPairs: [INSTALLED],
    },
    Bridge: {
      word: 'bridge',
      name: 'name',
      parents: [{ table: 'Open_vSwitch', column: 'bridges', single: true }],
      columns: [
        ...['datapath_type', 'fail_mode', 'protocols', 'stp_enable', 'rstp_enable', 'mcast_snooping_enable'],
        ...['other_config', 'external_ids', 'ports', 'mirrors'],
      ],
    },
    Port: {
      word: 'port',
      name: 'name',
      madeBeside: LOCALNET_PORT,
      parents: [{ table: 'Bridge', column: 'ports' }],
      groups: { table: 'Mirror', column: 'select_dst_port' },
      columns: [
        ...['interfaces', 'tag', 'trunks', 'vlan_mode', 'bond_mode', 'lacp', 'qos', 'other_config'],
        'external_ids',
      ],
    },
    Mirror: {
      word: 'mirror',
      name: 'name',
      parents: [{ table: 'Bridge', column: 'mirrors' }],
      columns: [
        ...['select_all', 'select_src_port', 'select_dst_port', 'select_vlan', 'output_port', 'output_vlan'],
        'external_ids',
      ],
    },
  },
};
