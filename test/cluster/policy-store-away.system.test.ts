/** etcd is away: policy stands, new pods have theirs, agents start with what they knew; what has changed meanwhile comes afterwards. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type EchoServer, eventually, reaches, serveEcho } from '@podwire/testkit';
import { type Cluster, createCluster } from './support/cluster.js';
import type { Pod } from './support/node.js';

const port = 7;
/** Milliseconds after which a packet that was not answered counts as dropped. */
const silence = 250;

let cluster: Cluster;
let directory: string;
const servers: EchoServer[] = [];

before(async () => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-away-'));
  cluster = await createCluster({
    name: 'polaway',
    nodes: 2,
    pools: [{ name: 'v4', cidr: '10.244.0.0/20', blockSize: 27 }],
  });
});
after(async () => {
  for (const server of servers) await server.close();
  await cluster?.close();
  fs.rmSync(directory, { recursive: true, force: true });
});

const policy = (role: string): string => `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: db, namespace: test }
spec:
  podSelector: { matchLabels: { app: db } }
  ingress: [{ from: [{ podSelector: { matchLabels: { role: ${role} } } }] }]
`;

async function apply(role: string): Promise<void> {
  const file = path.join(directory, 'db.yaml');
  fs.writeFileSync(file, policy(role));
  const { code, stderr } = await cluster.podwire('apply', '-f', file, '--wait');
  assert.equal(code, 0, stderr);
}

const addPod = (index: number, name: string, labels: Readonly<Record<string, string>>): Promise<Pod> =>
  cluster.nodes[index]!.add({
    name,
    config: { args: { cni: { labels: Object.entries(labels).map(([key, value]) => ({ key, value })) } } },
  });

async function addServer(index: number, name: string): Promise<Pod> {
  const pod = await addPod(index, name, { app: 'db' });
  servers.push(await serveEcho(pod.namespace, 'tcp', '0.0.0.0', port));
  return pod;
}

const passes = (from: Pod, to: Pod): Promise<boolean> =>
  reaches(from.namespace, 'tcp', to.addresses[0]!, port, { timeout: silence });

const untilConnected = (wanted: boolean): Promise<unknown> =>
  Promise.all(
    cluster.nodes.map((node) =>
      eventually(`${node.name} knows`, async () => (await node.status()).cluster.store.connected === wanted),
    ),
  );

for (const fault of ['killed', 'frozen'] as const)
  test(`etcd is ${fault}: what is in force stays, for new pods and new agents as well`, async () => {
    await apply('client');
    const [etcd] = cluster.etcd.members;
    const [client, other] = [
      await addPod(1, 'client', { role: 'client' }),
      await addPod(1, 'other', { role: 'x' }),
    ];
    const db = await addServer(0, 'db');
    await eventually('n1 knows the client', () => passes(client, db));
    const holds = async (server: Pod, when: string): Promise<void> =>
      assert.deepEqual([await passes(client, server), await passes(other, server)], [true, false], when);
    await holds(db, 'before');

    if (fault === 'killed') await etcd!.kill9();
    else etcd!.freeze();
    await untilConnected(false);
    await holds(db, 'away');
    const second = await addServer(0, 'db2');
    await holds(second, 'a pod that came meanwhile');
    const { agent } = cluster.nodes[0]!;
    await agent.kill9();
    await holds(db, 'without an agent');
    await agent.start();
    await holds(db, 'an agent that has not heard of the store');
    await holds(second, 'an agent that has not heard of the store');

    if (fault === 'killed') await etcd!.start();
    else etcd!.thaw();
    await untilConnected(true);
    await apply('x');
    assert.deepEqual(
      [await passes(client, db), await passes(other, db)],
      [false, true],
      'back, and another policy',
    );
    for (const server of servers.splice(0)) await server.close();
    for (const node of cluster.nodes) for (const pod of node.pods) await node.del(pod);
  });
