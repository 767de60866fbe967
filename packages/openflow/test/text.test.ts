import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Action,
  formatActions,
  formatFlow,
  formatGroup,
  formatMatch,
  type Match,
  parseActions,
  parseFlow,
  parseGroup,
  parseMatch,
} from '../src/index.js';
import { flows, foreignFields, groups, matches } from './arbitraries.js';

describe('texts are read as they were written', () => {
  test('matches', () => {
    fc.assert(fc.property(matches, (match) => void expect(parseMatch(formatMatch(match))).toEqual(match)));
  });

  test('flows', () => {
    fc.assert(fc.property(flows, (flow) => void expect(parseFlow(formatFlow(flow))).toEqual(flow)));
  });

  test('flows with unknown fields', () => {
    fc.assert(
      fc.property(flows, foreignFields, (plain, raw) => {
        const flow = { ...plain, match: { ...plain.match, raw } };
        expect(parseFlow(formatFlow(flow))).toEqual(flow);
      }),
    );
  });

  test('groups', () => {
    fc.assert(fc.property(groups, (group) => void expect(parseGroup(formatGroup(group))).toEqual(group)));
  });
});

describe('matches of ovs-ofctl are read', () => {
  test.each<[string, Match]>([
    [
      'tcp,nw_src=10.0.0.0/8,tp_dst=0x50',
      { eth_type: 0x800, ip_proto: 6, ip_src: '10.0.0.0/8', tcp_dst: 80 },
    ],
    ['udp6 tp_src=53', { eth_type: 0x86dd, ip_proto: 17, udp_src: 53 }],
    ['arp,nw_dst=10.0.0.1,nw_proto=2', { eth_type: 0x806, arp_op: 2, arp_tpa: '10.0.0.1' }],
    ['icmp6,icmp_type=135', { eth_type: 0x86dd, ip_proto: 58, icmpv6_type: 135 }],
    ['dl_vlan=5,dl_vlan_pcp=3', { vlan_vid: 0x1005, vlan_pcp: 3 }],
    ['dl_vlan=0xffff', { vlan_vid: 0 }],
    ['vlan_tci=0x1000/0x1000', { vlan_vid: '0x1000/0x1000' }],
    ['ip,nw_tos=16,nw_ttl=5', { eth_type: 0x800, ip_dscp: 4, ip_ttl: 5 }],
    ['in_port=local,ct_state=-inv+trk', { in_port: 'LOCAL', ct_state: '-inv+trk' }],
    ['ct_state=new|trk', { ct_state: '+new-est-rel-rpl-inv+trk-snat-dnat' }],
    ['tcp,tcp_flags=+syn-[800]', { eth_type: 0x800, ip_proto: 6, tcp_flags: '+syn-[800]' }],
    ['tcp,tcp_flags=syn|ack', { eth_type: 0x800, ip_proto: 6, tcp_flags: 0x12 }],
    ['xxreg0=5,xreg7=0x100000002/0x1', { reg0: 0, reg1: 0, reg2: 0, reg3: 5, reg15: '0x0/0x1' }],
    ['ip,nw_src=10.1.2.3/255.0.0.255', { eth_type: 0x800, ip_src: '10.0.0.3/255.0.0.255' }],
  ])('%s', (text, match) => expect(parseMatch(text)).toEqual(match));

  test.each([
    ['tcp,tp_dst=70000', 'tcp_dst: more than 16 bits'],
    ['tp_dst=80', 'there is no field "tp_dst" in such a packet'],
    ['tpc', 'there is no kind of packets "tpc"'],
    ['color=red', 'there is no field "color"'],
    ['raw=0002', 'not a field with its header: "0002"'],
    ['raw=0002000412345678aa', 'not a field with its header'],
    ['raw=000200041234567g', 'not a field with its header'],
    ['__proto__=1', 'there is no field "__proto__"'],
  ])('%s is refused', (text, message) => expect(() => parseMatch(text)).toThrow(message));
});

describe('actions of ovs-ofctl are read', () => {
  test.each<[string, readonly Action[]]>([
    ['drop', []],
    ['3,NORMAL,output:local', [3, 'NORMAL', 'LOCAL'].map((port) => ({ type: 'output', port }) as Action)],
    ['load:10.0.0.1->NXM_OF_IP_SRC[]', [{ type: 'load', value: 0x0a000001, to: { field: 'ip_src' } }]],
    [
      'load:0xa58->NXM_OF_ETH_DST[32..47]',
      [{ type: 'load', value: 0x0a58, to: { field: 'eth_dst', start: 32, bits: 16 } }],
    ],
    [
      'move:NXM_OF_ETH_SRC[0..31]->NXM_NX_REG0[]',
      [{ type: 'move', from: { field: 'eth_src', start: 0, bits: 32 }, to: { field: 'reg0' } }],
    ],
    [
      'set_field:0x30c/0xf0f->reg2',
      [
        { type: 'load', value: 12, to: { field: 'reg2', start: 0, bits: 4 } },
        { type: 'load', value: 3, to: { field: 'reg2', start: 8, bits: 4 } },
      ],
    ],
    [
      'resubmit(,5),resubmit:3',
      [
        { type: 'resubmit', table: 5 },
        { type: 'resubmit', port: 3 },
      ],
    ],
    ['resubmit(IN_PORT,5,ct)', [{ type: 'resubmit', table: 5, ct: true }]],
    [
      'ct(commit,zone=NXM_NX_REG0[0..15],nat(dst=[fd00::1]:80),exec(set_field:1->ct_mark))',
      [
        {
          type: 'ct',
          commit: true,
          zone: { field: 'reg0', start: 0, bits: 16 },
          nat: { direction: 'dst', addresses: 'fd00::1', ports: [80, 80] },
          exec: [{ type: 'set_field', field: 'ct_mark', value: 1 }],
        },
      ],
    ],
    [
      'ct(nat(src=fd00::1-fd00::9))',
      [{ type: 'ct', nat: { direction: 'src', addresses: 'fd00::1-fd00::9' } }],
    ],
    ['note:1.2', [{ type: 'note', bytes: '010200000000' }]],
    [
      'clone(load:0->in_port[],2)',
      [
        {
          type: 'clone',
          actions: [
            { type: 'load', value: 0, to: { field: 'in_port_nxm' } },
            { type: 'output', port: 2 },
          ],
        },
      ],
    ],
    [
      'CONTROLLER:65535,controller(max_len=9,id=2)',
      [{ type: 'controller' }, { type: 'controller', maxLength: 9, id: 2 }],
    ],
    ['mod_dl_dst:2:0:0:0:0:1', [{ type: 'set_field', field: 'eth_dst', value: '02:00:00:00:00:01' }]],
  ])('%s', (text, actions) => expect(parseActions(text)).toEqual(actions));

  test.each([
    ['frobnicate', 'there is no action "frobnicate"'],
    ['ct(', 'a parenthesis is not closed'],
    ['load:5', 'an arrow is missing'],
    ['load:5->reg0[30..33]', 'no part of its 32 bits'],
    ['constructor:1', 'there is no action'],
    [`${'clone('.repeat(30)}1${')'.repeat(30)}`, 'too deep'],
  ])('%s is refused', (text, message) => expect(() => parseActions(text)).toThrow(message));

  test('an action that is known by its bytes has no text', () => {
    expect(() => formatActions([{ type: 'raw', bytes: '' }])).toThrow('has no text');
  });
});

test('statistics of a dump are no part of a flow', () => {
  const line =
    ' cookie=0x0, duration=12.3s, table=4, n_packets=0, n_bytes=0, idle_timeout=60, idle_age=3, priority=7,ip,reg1=0x5 actions=clear_actions,write_metadata:0x5,goto_table:9';
  expect(parseFlow(line)).toEqual({
    ...{ table: 4, priority: 7, idleTimeout: 60, match: { eth_type: 0x800, reg1: 5 } },
    ...{ clear: true, metadata: '0x5', goto: 9 },
  });
  expect(formatFlow(parseFlow(line))).toBe(
    'table=4,idle_timeout=60,priority=7,ip,reg1=0x5,actions=clear_actions,write_metadata:0x5,goto_table:9',
  );
});
