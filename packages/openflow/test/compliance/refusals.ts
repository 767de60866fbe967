/** Requests and how a switch answers each, as Open vSwitch 3.1 does. */
import assert from 'node:assert/strict';
import {
  type Action,
  addFlow,
  addGroup,
  addMeter,
  type Conntrack,
  deleteMeter,
  type Flow,
  type Group,
  type Match,
  modifyGroup,
  modifyMeter,
  type Subfield,
} from '@podwire/openflow';
import { type Case, outcome, type Request } from './environment.js';

type Row = readonly [name: string, request: Request, expected: string];

const ip = { eth_type: 0x0800 };
const tcp = { ...ip, ip_proto: 6 };
const icmpv6 = { eth_type: 0x86dd, ip_proto: 58 };
const tagged = { vlan_vid: 0x1005 };
const established = { ct_state: '+trk+est' };

const matching = (match: Match, expected: string): Row => [
  `a match ${JSON.stringify(match)}`,
  addFlow({ match }),
  expected,
];

const matches: readonly Row[] = [
  matching({ tcp_dst: 80 }, 'OFPBMC_BAD_PREREQ'),
  matching({ ...ip, tcp_dst: 80 }, 'OFPBMC_BAD_PREREQ'),
  matching({ ...tcp, tcp_dst: 80 }, 'ok'),
  matching({ ...tcp, ip_frag: 'later', tcp_dst: 80 }, 'OFPBMC_BAD_PREREQ'),
  matching({ ...ip, ip_proto: '6/0xf' }, 'OFPBMC_BAD_MASK'),
  matching({ ...ip, ip_src: '10.1.2.3/8' }, 'OFPBMC_BAD_WILDCARDS'),
  matching({ ...ip, ip_dscp: 64 }, 'OFPBMC_BAD_VALUE'),
  matching({ eth_type: 0x86dd, ip_dscp: 5 }, 'ok'),
  matching({ vlan_vid: 0x1001, vlan_pcp: 9 }, 'OFPBMC_BAD_VALUE'),
  matching({ vlan_pcp: 1 }, 'OFPBMC_BAD_PREREQ'),
  matching({ vlan_vid: 0, vlan_pcp: 1 }, 'OFPBMC_BAD_PREREQ'),
  matching({ vlan_vid: 0x2001 }, 'OFPBMC_BAD_VALUE'),
  matching({ ct_state: '0x1ff/0x1ff' }, 'OFPBMC_BAD_VALUE'),
  matching({ ...ip, ct_nw_src: '10.0.0.1' }, 'OFPBMC_BAD_PREREQ'),
  matching({ ...ip, ...established, ct_nw_src: '10.0.0.1' }, 'ok'),
  matching({ ...ip, ct_state: '+trk-inv', ct_nw_src: '10.0.0.1' }, 'ok'),
  matching({ ...established, ct_nw_src: '10.0.0.1' }, 'OFPBAC_MATCH_INCONSISTENT'),
  matching({ ...ip, ...established, ct_ipv6_src: '::1' }, 'OFPBAC_MATCH_INCONSISTENT'),
  matching({ ...icmpv6, nd_target: '::1' }, 'OFPBMC_BAD_PREREQ'),
  matching({ ...icmpv6, icmpv6_type: 135, nd_target: '::1' }, 'ok'),
  matching({ ...icmpv6, icmpv6_type: 135, icmpv6_code: 1, nd_target: '::1' }, 'OFPBMC_BAD_PREREQ'),
  matching({ ...icmpv6, icmpv6_type: 136, nd_sll: '02:00:00:00:00:01' }, 'OFPBMC_BAD_PREREQ'),
  matching({ recirc_id: 1 }, 'OFPBRC_EPERM'),
  matching({ dp_hash: 5 }, 'OFPBRC_EPERM'),
  matching({ in_port: 0xff00 }, 'OFPBMC_BAD_VALUE'),
  matching({ in_port: 'LOCAL' }, 'ok'),
  matching({ eth_type: 0x0806, arp_op: 256 }, 'OFPBMC_BAD_VALUE'),
  matching({ mpls_label: 1 }, 'OFPBMC_BAD_PREREQ'),
  matching({ raw: ['0002000412345678'] }, 'OFPBMC_BAD_FIELD'),
];

const acting = (match: Match, actions: readonly Action[], expected: string): Row => [
  `actions ${JSON.stringify(actions)} of ${JSON.stringify(match)}`,
  addFlow({ match, actions }),
  expected,
];
const sending = (port: Extract<Action, { type: 'output' }>['port'], expected: string): Row =>
  acting({}, [{ type: 'output', port }], expected);
const setting = (
  match: Match,
  action: Omit<Extract<Action, { type: 'set_field' }>, 'type'>,
  expected: string,
): Row => acting(match, [{ type: 'set_field', ...action }], expected);
const loading = (match: Match, to: Subfield, expected: string): Row =>
  acting(match, [{ type: 'load', value: 1, to }], expected);

const actions: readonly Row[] = [
  sending(0xff00, 'OFPBAC_BAD_OUT_PORT'),
  sending('ANY', 'OFPBAC_BAD_OUT_PORT'),
  sending(100, 'ok'),
  sending('TABLE', 'ok'),
  acting({}, [{ type: 'group', group: 77 }], 'OFPBAC_BAD_OUT_GROUP'),
  setting(ip, { field: 'ip_proto', value: 6 }, 'OFPBAC_BAD_SET_ARGUMENT'),
  setting({}, { field: 'eth_type', value: 5 }, 'OFPBAC_BAD_SET_ARGUMENT'),
  setting({}, { field: 'ip_src', value: '10.0.0.1' }, 'OFPBAC_MATCH_INCONSISTENT'),
  setting(ip, { field: 'ip_src', value: '10.0.0.1' }, 'ok'),
  setting(ip, { field: 'tcp_src', value: 5 }, 'OFPBAC_MATCH_INCONSISTENT'),
  setting({}, { field: 'ct_mark', value: 5 }, 'OFPBAC_BAD_SET_ARGUMENT'),
  setting({}, { field: 'in_port', value: 5 }, 'OFPBAC_BAD_SET_ARGUMENT'),
  setting({}, { field: 'vlan_vid', value: 0x1005 }, 'OFPBAC_MATCH_INCONSISTENT'),
  setting(tagged, { field: 'vlan_vid', value: 0x1006 }, 'ok'),
  setting(tagged, { field: 'vlan_vid', value: 6 }, 'OFPBAC_BAD_SET_ARGUMENT'),
  setting({}, { field: 'vlan_pcp', value: 5 }, 'OFPBAC_MATCH_INCONSISTENT'),
  setting(tcp, { field: 'tcp_flags', value: 1 }, 'OFPBAC_BAD_SET_ARGUMENT'),
  setting(ip, { field: 'ip_dscp', value: 65 }, 'OFPBAC_BAD_SET_ARGUMENT'),
  setting({}, { field: 'ct_state', value: 0x20 }, 'OFPBAC_BAD_SET_ARGUMENT'),
  setting(ip, { field: 'ip_ttl', value: 5 }, 'ok'),
  loading(ip, { field: 'ip_proto' }, 'OFPBAC_BAD_SET_ARGUMENT'),
  loading({}, { field: 'ip_src' }, 'OFPBAC_MATCH_INCONSISTENT'),
  loading({}, { field: 'ct_mark' }, 'OFPBAC_BAD_SET_ARGUMENT'),
  loading({}, { field: 'in_port_nxm' }, 'ok'),
  loading({}, { field: 'xxreg1', start: 0, bits: 64 }, 'ok'),
  acting(
    {},
    [{ type: 'move', from: { field: 'ip_src' }, to: { field: 'reg0' } }],
    'OFPBAC_MATCH_INCONSISTENT',
  ),
  acting(
    {},
    [{ type: 'move', from: { field: 'reg0' }, to: { field: 'ip_src' } }],
    'OFPBAC_MATCH_INCONSISTENT',
  ),
  acting({}, [{ type: 'move', from: { field: 'ct_mark' }, to: { field: 'reg0' } }], 'ok'),
  acting({}, [{ type: 'push', from: { field: 'ip_src' } }], 'OFPBAC_MATCH_INCONSISTENT'),
  acting(ip, [{ type: 'pop', to: { field: 'ip_proto' } }], 'OFPBAC_BAD_SET_ARGUMENT'),
  acting({}, [{ type: 'output_field', from: { field: 'ip_src' } }], 'OFPBAC_MATCH_INCONSISTENT'),
  acting({}, [{ type: 'dec_ttl' }], 'OFPBAC_MATCH_INCONSISTENT'),
  acting({}, [{ type: 'pop_vlan' }], 'OFPBAC_MATCH_INCONSISTENT'),
  acting({ vlan_vid: 0 }, [{ type: 'pop_vlan' }], 'OFPBAC_MATCH_INCONSISTENT'),
  acting(tagged, [{ type: 'pop_vlan' }], 'ok'),
  acting({}, [{ type: 'push_vlan', etherType: 0x0800 }], 'OFPBAC_BAD_ARGUMENT'),
  acting(
    tagged,
    [
      { type: 'push_vlan', etherType: 0x8100 },
      { type: 'push_vlan', etherType: 0x8100 },
    ],
    'OFPBAC_BAD_TAG',
  ),
  acting(
    {},
    [
      { type: 'push_vlan', etherType: 0x8100 },
      { type: 'set_field', field: 'vlan_vid', value: 0x1005 },
    ],
    'ok',
  ),
];

const tracking = (match: Match, ct: Omit<Conntrack, 'type'>, expected: string): Row =>
  acting(match, [{ type: 'ct', ...ct }], expected);
const source = { direction: 'src' } as const;
const mark: Action = { type: 'load', value: 1, to: { field: 'ct_mark' } };

const connections: readonly Row[] = [
  tracking({}, {}, 'OFPBAC_MATCH_INCONSISTENT'),
  tracking({ eth_type: 0x0806 }, {}, 'OFPBAC_MATCH_INCONSISTENT'),
  tracking(ip, { table: 0 }, 'ok'),
  tracking(ip, { nat: {} }, 'ok'),
  tracking(ip, { exec: [mark] }, 'OFPBAC_BAD_ARGUMENT'),
  tracking(ip, { commit: true, exec: [mark] }, 'ok'),
  tracking(
    ip,
    { commit: true, exec: [{ type: 'load', value: 1, to: { field: 'reg0' } }] },
    'OFPBAC_BAD_ARGUMENT',
  ),
  tracking(ip, { commit: true, exec: [{ type: 'output', port: 1 }] }, 'OFPBAC_BAD_ARGUMENT'),
  tracking(ip, { nat: { ...source, addresses: '10.0.0.1' } }, 'OFPBAC_BAD_ARGUMENT'),
  tracking(ip, { commit: true, nat: { ...source, addresses: '10.0.0.1' } }, 'ok'),
  tracking(ip, { commit: true, nat: { ...source, addresses: '::1' } }, 'OFPBAC_MATCH_INCONSISTENT'),
  tracking(ip, { commit: true, nat: { ...source, addresses: '10.0.0.2-10.0.0.1' } }, 'OFPBAC_BAD_ARGUMENT'),
  tracking(
    ip,
    { commit: true, nat: { ...source, addresses: '10.0.0.1', ports: [9, 8] } },
    'OFPBAC_BAD_ARGUMENT',
  ),
  tracking(ip, { commit: true, nat: { ...source, ports: [8, 9] } }, 'OFPBAC_BAD_ARGUMENT'),
  tracking({ ...ip, ct_state: '+trk+inv' }, { commit: true }, 'OFPBAC_MATCH_INCONSISTENT'),
  tracking(ip, { force: true }, 'OFPBAC_BAD_ARGUMENT'),
  tracking(ip, { commit: true, alg: 'ftp' }, 'OFPBAC_MATCH_INCONSISTENT'),
  tracking(tcp, { commit: true, alg: 'ftp' }, 'ok'),
  tracking(ip, { zone: { field: 'reg0', start: 0, bits: 8 } }, 'OFPBAC_BAD_SET_LEN'),
  tracking(ip, { zone: { field: 'tcp_src' } }, 'OFPBAC_MATCH_INCONSISTENT'),
];

const part = { type: 'conjunction', id: 1, clause: 1, of: 2 } as const;
const flow = (name: string, value: Flow, expected: string): Row => [name, addFlow(value), expected];

const flows: readonly Row[] = [
  flow('a conjunction', { match: ip, actions: [part] }, 'ok'),
  flow('a conjunction beside a note', { actions: [part, { type: 'note', bytes: '010203040506' }] }, 'ok'),
  flow(
    'a conjunction beside an output',
    { actions: [part, { type: 'output', port: 1 }] },
    'NXBAC_BAD_CONJUNCTION',
  ),
  flow('a conjunction that goes on', { actions: [part], goto: 3 }, 'NXBAC_BAD_CONJUNCTION'),
  flow('a conjunction of one clause', { actions: [{ ...part, of: 1 }] }, 'NXBAC_BAD_CONJUNCTION'),
  flow('the third clause of two', { actions: [{ ...part, clause: 3 }] }, 'NXBAC_BAD_CONJUNCTION'),
  flow('goto to the same table', { table: 3, goto: 3 }, 'OFPBIC_BAD_TABLE_ID'),
  flow('goto backwards', { table: 3, goto: 2 }, 'OFPBIC_BAD_TABLE_ID'),
  flow('a flow in the table of the switch itself', { table: 254 }, 'OFPBRC_EPERM'),
  flow('a flow in all tables', { table: 255 }, 'OFPFMFC_BAD_TABLE_ID'),
  flow('a meter that is not there', { meter: 9 }, 'OFPMMFC_INVALID_METER'),
  flow('metadata', { metadata: '0x5/0xf' }, 'ok'),
  flow('a note in the action set', { write: [{ type: 'note', bytes: '010203040506' }] }, 'OFPBAC_BAD_TYPE'),
  flow('a clone in the action set', { write: [{ type: 'clone', actions: [] }] }, 'OFPBAC_BAD_TYPE'),
  flow(
    'a group that is not there in the action set',
    { write: [{ type: 'group', group: 7 }] },
    'OFPBAC_BAD_OUT_GROUP',
  ),
  flow('dec_ttl in the action set', { write: [{ type: 'dec_ttl' }] }, 'ok'),
  flow('a resubmit in the action set', { write: [{ type: 'resubmit', table: 3 }] }, 'ok'),
];

const group = (name: string, value: Group, expected: string): Row => [name, addGroup(value), expected];
const bucket = { actions: [] };

const groups: readonly Row[] = [
  group(
    'an indirect group without a bucket',
    { id: 1, type: 'indirect', buckets: [] },
    'OFPGMFC_INVALID_GROUP',
  ),
  group(
    'an indirect group of two',
    { id: 1, type: 'indirect', buckets: [bucket, bucket] },
    'OFPGMFC_INVALID_GROUP',
  ),
  group(
    'a bucket that watches nothing',
    { id: 1, type: 'fast_failover', buckets: [bucket] },
    'OFPGMFC_INVALID_GROUP',
  ),
  group(
    'a bucket that watches a port',
    { id: 1, type: 'fast_failover', buckets: [{ watchPort: 1, ...bucket }] },
    'ok',
  ),
  group(
    'a watch in another group',
    { id: 1, type: 'all', buckets: [{ watchPort: 1, ...bucket }] },
    'OFPGMFC_WATCH_UNSUPPORTED',
  ),
  group(
    'a weight in another group',
    { id: 1, type: 'all', buckets: [{ weight: 5, ...bucket }] },
    'OFPGMFC_INVALID_GROUP',
  ),
  group('a number that is reserved', { id: 0xffffff01, type: 'all', buckets: [] }, 'OFPGMFC_INVALID_GROUP'),
  group(
    'a bucket that sends to its own group',
    { id: 1, type: 'all', buckets: [{ actions: [{ type: 'group', group: 1 }] }] },
    'ok',
  ),
  group(
    'a bucket that writes a field of IP',
    {
      id: 1,
      type: 'all',
      buckets: [{ actions: [{ type: 'set_field', field: 'ip_src', value: '10.0.0.1' }] }],
    },
    'ok',
  ),
  group(
    'a bucket that writes the type of packets',
    { id: 1, type: 'all', buckets: [{ actions: [{ type: 'set_field', field: 'eth_type', value: 1 }] }] },
    'OFPBAC_BAD_SET_ARGUMENT',
  ),
  [
    'a modification of a group that is not there',
    modifyGroup({ id: 50, type: 'all', buckets: [] }),
    'OFPGMFC_UNKNOWN_GROUP',
  ],
];

const bands = [{ rate: 5 }];
const meters: readonly Row[] = [
  ['a meter', addMeter({ id: 1, unit: 'kbps', bands }), 'ok'],
  ['a meter that is there', addMeter({ id: 1, unit: 'kbps', bands }), 'OFPMMFC_METER_EXISTS'],
  ['the deletion of a meter', deleteMeter(1), 'ok'],
  ['the deletion of a meter that is not there', deleteMeter(77), 'ok'],
  [
    'a modification of a meter that is not there',
    modifyMeter({ id: 9, unit: 'kbps', bands }),
    'OFPMMFC_UNKNOWN_METER',
  ],
  ['a meter of number 0', addMeter({ id: 0, unit: 'kbps', bands }), 'OFPMMFC_INVALID_METER'],
  ['a meter without a band', addMeter({ id: 2, unit: 'kbps', bands: [] }), 'OFPMMFC_OUT_OF_BANDS'],
  ['a meter of rate 0', addMeter({ id: 2, unit: 'kbps', bands: [{ rate: 0 }] }), 'OFPMMFC_BAD_RATE'],
];

/** One case for each row. */
export const refusalCases: readonly Case[] = [
  ...matches,
  ...actions,
  ...connections,
  ...flows,
  ...groups,
  ...meters,
].map(([name, request, expected]) => ({
  name: `answers ${expected} to ${name}`,
  run: async (connection) => assert.equal(await outcome(connection, request), expected),
}));
