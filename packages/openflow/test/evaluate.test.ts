/** Connection tracking, groups and limits, which `ofproto/trace` does not show. */
import { beforeEach, describe, expect, test } from 'vitest';
import {
  addGroup,
  connectSwitch,
  addFlow,
  parseFlow,
  parseGroup,
  type SwitchConnection,
} from '../src/index.js';
import { FakeSwitch, type PacketFields } from '../src/fake/index.js';
import { nine } from './ports.js';

let fake: FakeSwitch;
let connection: SwitchConnection;

beforeEach(async () => {
  fake = new FakeSwitch({ ports: nine });
  connection = await connectSwitch(fake.connect());
});

const add = (...texts: string[]): Promise<void> =>
  connection.applyBundle(
    texts.map((text) =>
      text.startsWith('group_id') ? addGroup(parseGroup(text)) : addFlow(parseFlow(text)),
    ),
  );

const tcp = (more: PacketFields): PacketFields => ({ eth_type: 0x0800, ip_proto: 6, ip_ttl: 64, ...more });
const client = { ip_src: '10.0.0.1', tcp_src: 4000 };
const server = { ip_dst: '10.0.0.9', tcp_dst: 80 };
const there = tcp({ in_port: 1, ...client, ...server });
const back = tcp({ in_port: 2, ip_src: '10.0.0.9', tcp_src: 80, ip_dst: '10.0.0.1', tcp_dst: 4000 });

const portsOf = (packet: PacketFields, options = {}): unknown[] =>
  fake.evaluate(packet, options).outputs.map(({ port }) => port);

describe('connections', () => {
  const firewall = [
    'table=0,priority=9,ip,actions=ct(table=1,zone=5)',
    'table=1,priority=9,ct_state=+trk+est,in_port=1,actions=2',
    'table=1,priority=9,ct_state=+trk+est,in_port=2,actions=1',
    'table=1,priority=8,ip,ct_state=+trk+new,in_port=1,actions=ct(commit,zone=5,exec(load:7->ct_mark[])),2',
  ];

  test('let answers in, and nothing else', async () => {
    await add(...firewall);
    expect(portsOf(back)).toEqual([]);
    expect(portsOf(there)).toEqual([2]);
    expect(portsOf(tcp({ ...back, tcp_src: 81 }))).toEqual([]);
    expect(portsOf(back)).toEqual([1]);
    expect(portsOf(there)).toEqual([2]);
  });

  test('are new until an answer is seen', async () => {
    await add(...firewall);
    const state = (packet: PacketFields): unknown =>
      fake.evaluate(packet).steps.find(({ table }) => table === 1)?.flow?.priority;
    expect([state(there), state(there), state(back), state(there)]).toEqual([8, 8, 9, 9]);
  });

  test('of one zone are unknown in another', async () => {
    await add(...firewall, 'table=0,priority=10,ip,reg0=1,actions=ct(table=1,zone=6)');
    expect(portsOf(there)).toEqual([2]);
    expect(portsOf({ ...back, reg0: 1 })).toEqual([]);
  });

  test('have a mark, which later packets match', async () => {
    await add(
      ...firewall,
      'table=1,priority=20,ct_mark=0x7/0xf,ct_nw_src=10.0.0.1,ip,ct_state=+rpl,actions=3',
    );
    portsOf(there);
    expect(portsOf(back)).toEqual([3]);
  });

  test('are tracked as the test says when it says so', async () => {
    await add(...firewall, 'table=1,priority=20,ct_state=+rel+trk,actions=4');
    expect(portsOf(back, { states: ['rel|trk'] })).toEqual([4]);
    expect(portsOf(back, { states: ['est|trk'] })).toEqual([1]);
  });

  test('that are forced from the other side are new', async () => {
    await add(
      'table=0,priority=9,ip,in_port=1,actions=ct(commit,zone=5)',
      'table=0,priority=9,ip,in_port=2,actions=ct(commit,force,zone=5,table=1)',
      'table=1,ct_state=+new+trk,actions=3',
    );
    portsOf(there);
    expect(portsOf(back)).toEqual([3]);
    expect(fake.evaluate(back).connections).toHaveLength(1);
  });

  test('are forgotten with the switch', async () => {
    await add(...firewall);
    portsOf(there);
    fake.restart();
    connection = await connectSwitch(fake.connect());
    await add(...firewall);
    expect(portsOf(back)).toEqual([]);
  });
});

describe('translation', () => {
  const balancer = [
    'table=0,priority=9,ip,in_port=1,actions=ct(commit,zone=1,nat(dst=10.1.0.2:8080),table=1)',
    'table=0,priority=9,ip,in_port=2,actions=ct(zone=1,nat,table=1)',
    'table=1,in_port=1,ip,ct_state=+dnat,nw_dst=10.1.0.2,actions=2',
    'table=1,in_port=2,ip,ct_state=+rpl+est,actions=1',
  ];

  test('of a destination is applied, and undone for answers', async () => {
    await add(...balancer);
    expect(fake.evaluate(there).outputs).toMatchObject([
      { port: 2, packet: { ip_dst: '10.1.0.2', tcp_dst: 8080 } },
    ]);
    const answer = tcp({ in_port: 2, ip_src: '10.1.0.2', tcp_src: 8080, ip_dst: '10.0.0.1', tcp_dst: 4000 });
    expect(fake.evaluate(answer).outputs).toMatchObject([
      { port: 1, packet: { ip_src: '10.0.0.9', tcp_src: 80, ip_dst: '10.0.0.1', tcp_dst: 4000 } },
    ]);
  });

  test('is seen by the tables only after the packet came back from tracking', async () => {
    await add(
      'table=0,ip,actions=ct(commit,nat(src=10.2.0.1)),resubmit(,1)',
      'table=1,priority=9,ip,nw_src=10.2.0.1,actions=drop',
      'table=1,priority=8,ip,nw_src=10.0.0.1,actions=3',
    );
    expect(fake.evaluate(there).outputs).toMatchObject([{ port: 3, packet: { ip_src: '10.2.0.1' } }]);
  });

  test('works for IPv6', async () => {
    await add(
      'table=0,udp6,actions=ct(commit,nat(src=[fd00::9]:99),table=1)',
      'table=1,ct_state=+snat,actions=3',
    );
    const packet = {
      in_port: 1,
      eth_type: 0x86dd,
      ip_proto: 17,
      ipv6_src: 'fd00::1',
      ipv6_dst: 'fd00::2',
      udp_src: 5,
    };
    expect(fake.evaluate(packet).outputs).toMatchObject([
      { port: 3, packet: { ipv6_src: 'fd00::9', udp_src: 99 } },
    ]);
  });
});

describe('groups', () => {
  test('send one conversation to one bucket, and conversations to all of them by weight', async () => {
    const buckets = 'bucket=weight:3,actions=1,bucket=weight:1,actions=2,bucket=weight:0,actions=3';
    await add(`group_id=1,type=select,${buckets}`, 'in_port=9,actions=group:1');
    const counts = [0, 0, 0, 0];
    for (let source = 0; source < 400; source++) {
      const packet = tcp({ in_port: 9, ...client, ...server, tcp_src: source });
      const [port] = portsOf(packet);
      expect(portsOf(packet)).toEqual([port]);
      counts[Number(port)]! += 1;
    }
    expect(counts[3]).toBe(0);
    expect(counts[1]).toBeGreaterThan(counts[2]! * 2);
    expect(counts[2]).toBeGreaterThan(50);
  });

  test('send to the bucket that the test chooses', async () => {
    await add('group_id=1,type=select,bucket=actions=1,bucket=actions=2', 'actions=group:1');
    expect(portsOf({ in_port: 9 }, { chooseBucket: () => 1 })).toEqual([2]);
  });

  test('fail over to the next port that has its link', async () => {
    await add(
      'group_id=1,type=ff,bucket=watch_port:1,actions=1,bucket=watch_port:2,actions=2',
      'group_id=2,type=ff,bucket=watch_group:1,actions=4,bucket=watch_port:3,actions=3',
      'in_port=9,actions=group:1,group:2',
    );
    expect(portsOf({ in_port: 9 })).toEqual([1, 4]);
    fake.setPort({ ...nine[0]!, hasLink: false });
    expect(portsOf({ in_port: 9 })).toEqual([2, 4]);
    fake.removePort(2);
    expect(portsOf({ in_port: 9 })).toEqual([3]);
  });

  test('leave the packet as it was behind each bucket', async () => {
    await add(
      'group_id=1,type=all,bucket=actions=load:5->reg0[],1,bucket=actions=2',
      'in_port=9,actions=group:1,3',
    );
    const packets = fake.evaluate({ in_port: 9 }).outputs.map(({ packet }) => packet.reg0);
    expect(packets).toEqual([5, undefined, undefined]);
  });
});

describe('a packet', () => {
  test('is given up when it is looked up without end', async () => {
    await add('table=0,actions=2,resubmit(,1)', 'table=1,actions=resubmit(,0)');
    expect(fake.evaluate({ in_port: 1 })).toMatchObject({ outputs: [], failures: ['deeper than 64 tables'] });
  });

  test('that comes back from tracking without end is an error', async () => {
    await add('table=0,ip,actions=ct(table=0)');
    expect(() => fake.evaluate(there)).toThrow('the packet came back more than 1000 times');
  });

  test('with an action set is not tracked, since that ends ovs-vswitchd', async () => {
    await add('table=0,ip,actions=write_actions(output:2),goto_table:1', 'table=1,ip,actions=ct(table=2)');
    expect(() => fake.evaluate(there)).toThrow('Open vSwitch would end itself');
  });

  test('that is cloned goes through the action set too', async () => {
    await add(
      'table=0,actions=write_actions(output:2),goto_table:1',
      'table=1,actions=clone(3),clear_actions',
    );
    expect(portsOf({ in_port: 1 })).toEqual([3, 2]);
  });

  test('is counted by the flows that it hits', async () => {
    await add('table=0,priority=5,actions=goto_table:1', 'table=1,priority=6,actions=2');
    fake.evaluate({ in_port: 1 });
    fake.evaluate({ in_port: 1 });
    expect((await connection.dump('flow')).map(({ packets }) => packets)).toEqual([2, 2]);
  });

  test('has only values that its fields have', () => {
    expect(() => fake.evaluate({ in_port: 1, ip_src: 'here' })).toThrow('ip_src: not an IP address');
  });

  test('whose time is over goes to the controller alone', async () => {
    await add('table=0,ip,actions=1,dec_ttl,2');
    expect(portsOf(tcp({ in_port: 9, ip_ttl: 1 }))).toEqual([1, 'CONTROLLER']);
  });
});
