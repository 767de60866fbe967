/** Connection tracking of real packets is the oracle of that of the fake switch: the same flows are hit as often. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addFlow, connectSwitch, deleteFlows, parseFlow, type SwitchConnection } from '@podwire/openflow';
import { FakeSwitch, type PacketFields } from '@podwire/openflow/fake';
import { nine } from './ports.js';
import { useSwitch } from './private-switch.js';

const used = useSwitch();

const client = '10.0.0.1';
const server = '10.0.0.9';

/** A datagram as `netdev-dummy/receive` takes it, and as fields. */
const datagram = (port: number, ipSrc: string, source: number, ipDst: string, target: number) => ({
  port,
  text:
    'eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:02),eth_type(0x0800),' +
    `ipv4(src=${ipSrc},dst=${ipDst},proto=17,tos=0,ttl=64,frag=no),udp(src=${source},dst=${target})`,
  fields: {
    ...{ in_port: port, eth_type: 0x0800, ip_proto: 17, ip_ttl: 64 },
    ...{ ip_src: ipSrc, ip_dst: ipDst, udp_src: source, udp_dst: target },
  } satisfies PacketFields,
});
type Datagram = ReturnType<typeof datagram>;

const there = datagram(1, client, 4000, server, 80);
const back = datagram(2, server, 80, client, 4000);

const cases: readonly (readonly [name: string, flows: readonly string[], packets: readonly Datagram[]])[] = [
  [
    'answers are let in, others are not',
    [
      'table=0,ip,actions=ct(table=1,zone=5)',
      'table=1,priority=9,ip,ct_state=+trk+new,in_port=1,actions=ct(commit,zone=5),2',
      'table=1,priority=8,ip,ct_state=+trk+est-rpl,actions=2',
      'table=1,priority=7,ip,ct_state=+trk+est+rpl,actions=1',
      'table=1,priority=1,actions=drop',
    ],
    [back, there, datagram(2, server, 81, client, 4000), back, there, back],
  ],
  [
    'zones are apart, and marks are matched',
    [
      'table=0,priority=9,ip,in_port=1,actions=ct(commit,zone=6,exec(load:7->ct_mark[],load:9->ct_label[64..95]))',
      'table=0,priority=9,ip,in_port=2,actions=ct(zone=6,table=1)',
      'table=0,priority=9,ip,in_port=3,actions=ct(zone=7,table=1)',
      'table=1,priority=9,ct_mark=0x7/0xf,ct_label=0x90000000000000000,ct_zone=6,ip,ct_state=+est,ct_nw_src=10.0.0.1,actions=4',
      'table=1,priority=8,ip,ct_state=+new,ct_mark=0,actions=5',
    ],
    [there, back, { ...back, port: 3, fields: { ...back.fields, in_port: 3 } }],
  ],
  [
    'a destination is translated, and answers are translated back',
    [
      'table=0,priority=9,ip,in_port=1,actions=ct(commit,zone=8,nat(dst=10.1.0.2:8080),table=1)',
      'table=0,priority=9,ip,in_port=2,actions=ct(zone=8,nat,table=1)',
      'table=1,priority=9,udp,ct_state=+dnat-rpl,nw_dst=10.1.0.2,tp_dst=8080,in_port=1,actions=2',
      'table=1,priority=9,udp,ct_state=+rpl+est+snat,nw_src=10.0.0.9,tp_src=80,actions=1',
      'table=1,priority=1,actions=drop',
    ],
    [there, datagram(2, '10.1.0.2', 8080, client, 4000), there, back],
  ],
  [
    'a source is translated, which the tables see after tracking alone',
    [
      'table=0,priority=9,ip,in_port=1,actions=ct(commit,zone=9,nat(src=10.2.0.1),table=2),resubmit(,1)',
      'table=0,priority=9,ip,in_port=2,actions=ct(zone=9,nat,table=2)',
      'table=1,priority=9,ip,nw_src=10.2.0.1,actions=3',
      'table=1,priority=8,ip,nw_src=10.0.0.1,actions=4',
      'table=2,priority=9,ip,nw_src=10.2.0.1,ct_state=+snat,actions=5',
      'table=2,priority=8,ip,nw_dst=10.0.0.1,ct_state=+dnat+rpl,actions=6',
    ],
    [there, datagram(2, server, 80, '10.2.0.1', 4000)],
  ],
];

async function countHits(of: SwitchConnection): Promise<Record<string, number | undefined>> {
  const entries = await of.dump('flow');
  const named = entries.map(
    ({ flow, packets }) => [`${flow.table} ${JSON.stringify(flow.match)}`, packets] as const,
  );
  return Object.fromEntries(named);
}

for (const [name, flows, packets] of cases) {
  test(`Open vSwitch and the fake switch agree: ${name}`, async () => {
    const fake = new FakeSwitch({ ports: nine });
    const near = await connectSwitch(fake.connect());
    const changes = [deleteFlows(), ...flows.map((flow) => addFlow(parseFlow(flow)))];
    await used.connection.applyBundle(changes);
    await near.applyBundle(changes);
    for (const { port, text, fields } of packets) {
      await used.real.appctl('netdev-dummy/receive', `p${port}`, `in_port(${port}),${text}`);
      // The caches of the datapath give their counters to the flows, and the next packet asks the tables again.
      await used.real.appctl('revalidator/purge');
      fake.evaluate(fields);
    }
    assert.deepEqual(await countHits(near), await countHits(used.connection));
    near.close();
  });
}
