import { expect, test } from 'vitest';
import { createColors } from 'picocolors';
import { type ClusterNames, findEnd } from '../../src/packet/names.js';
import { renderPacket } from '../../src/packet/render.js';
import { viewWalk, type WalkView } from '../../src/packet/view.js';
import { followPacket } from '../../src/packet/walk.js';
import { answer, type Asked, otherFlows, recorded, startNode } from './daemons.js';

const names: ClusterNames = {
  source: 'the store',
  pods: [
    { name: 'shop/web', node: 'n1', addresses: ['10.128.2.2'] },
    { name: 'shop/db', node: 'n2', addresses: ['10.128.4.2'] },
  ],
  nodes: [
    { name: 'n1', address: '192.0.2.1' },
    { name: 'n2', address: '192.0.2.2' },
  ],
  projects: [{ name: 'shop', vnid: 42 }],
};
const [from, to] = [findEnd('shop/web', names), findEnd('shop/db', names)];
const question = { from, to, protocol: 'tcp', port: 80 } as const;
const { signal } = new AbortController();

/** @param arrived the trace of the second node; it cannot be asked when it is absent */
async function follow(first: string, arrived?: string, asked: Asked[] = []): Promise<WalkView> {
  const runDir = await startNode(answer({ result: recorded(first) }));
  const other =
    arrived === undefined
      ? undefined
      : {
          bridge: 'br0',
          runDir: await startNode(answer({ result: recorded(arrived) }, asked), otherFlows()),
        };
  const findSwitch = (node: string | undefined) => (node === 'n2' ? other : undefined);
  const parts = { names, findSwitch, signal, timeout: 60 };
  return viewWalk(question, await followPacket(question, { bridge: 'br0', runDir }, parts));
}

const summaryOf = ({ outcome, hops, continued }: WalkView) => ({
  outcome,
  ends: hops.map(({ node, ends }) => [node, ...ends]),
  continued,
});

const sent = ['n1', 'sent through the tunnel to n2 (192.0.2.2), with VNID 42 (shop)'];

test('a packet that leaves through the tunnel is asked about at the other node', async () => {
  const asked: Asked[] = [];
  expect(summaryOf(await follow('tunnel', 'arrived', asked))).toEqual({
    outcome: 'delivered',
    ends: [sent, ['n2', 'delivered to pod shop/db at port 3 (veth3) of n2']],
    continued: [],
  });
  expect(asked[0]!.params[1]).toContain('in_port=1,');
  expect(asked[0]!.params[1]).toContain('tun_src=192.0.2.1,');
});

test('a packet may be dropped at the other node', async () => {
  expect(summaryOf(await follow('tunnel', 'arrived-other-project'))).toMatchObject({
    outcome: 'dropped',
    ends: [sent, ['n2', 'dropped on n2 in table 80: no flow lets VNID 7 reach VNID 42 (shop)']],
  });
});

test('where the other node cannot be asked, the command to run there is given', async () => {
  expect(summaryOf(await follow('tunnel'))).toEqual({
    outcome: 'sent',
    ends: [sent],
    continued: [
      {
        ...{ address: '192.0.2.2', node: 'n2' },
        command:
          'podwire packet trace --from 10.128.2.2 --to 10.128.4.2 --tcp 80 --tunnel-from 192.0.2.1 --vnid 42',
      },
    ],
  });
});

test.each([
  ['project-default', 'delivered'],
  ['out-of-cluster', 'sent'],
  ['no-pod', 'dropped'],
])('a packet that stays on its node has one hop (%s)', async (name, outcome) => {
  const view = await follow(name, 'arrived');
  expect([view.outcome, view.hops.length]).toEqual([outcome, 1]);
});

test('each hop begins with its node, and with where the packet comes from', async () => {
  const lines = renderPacket(await follow('tunnel', 'arrived'), { width: 200, paint: createColors(false) });
  const first = lines.indexOf('n1, bridge br0: OpenShift SDN, multitenant, rule version 13');
  const second = lines.indexOf('n2, bridge br0: OpenShift SDN, multitenant, rule version 13');
  expect([lines[first + 1], lines[second - 1], lines[second + 1], lines.at(-1)]).toEqual([
    'TCP from pod shop/web (10.128.2.2), port 3 of the bridge, to pod shop/db (10.128.4.2:80)',
    '',
    'TCP from pod shop/web (10.128.2.2), through the tunnel from n1 (192.0.2.1) with VNID 42 (shop), to pod shop/db (10.128.4.2:80)',
    'delivered to pod shop/db at port 3 (veth3) of n2',
  ]);
});
