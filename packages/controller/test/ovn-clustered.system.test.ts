/** The controller of OVN with a northbound database of three servers, whose leaders die, on real etcd. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { IP } from '@podwire/objects';
import { run, until } from '@podwire/testkit';
import { readOvnSchema } from '@podwire/testkit/ovn';
import { OvsdbServer } from '@podwire/testkit/ovsdb';
import { OvnCluster, type RunningController } from './ovn-cluster.js';

const schema = readOvnSchema('nb');
const first = new OvsdbServer({ schema, model: 'clustered' });
const servers = [first, ...[1, 2].map(() => new OvsdbServer({ schema, model: 'clustered', join: first }))];
const endpoints = servers.map(({ endpoint }) => endpoint);

let cluster: OvnCluster;
let leading: RunningController;

before(async () => {
  cluster = await OvnCluster.start();
  for (const server of servers) await server.start();
  leading = cluster.startController('a', endpoints);
  for (const number of [1, 2]) await cluster.addNode(number);
  await cluster.apply('Subnet', 'blue', { cidrBlock: '10.17.0.0/22', namespaces: ['shop'], private: true });
});
after(async () => {
  await cluster?.close();
  for (const server of servers) await server.close();
});

async function findLeader(): Promise<OvsdbServer> {
  return until('there is a leader', async () => {
    for (const server of servers) if ((await server.role().catch(() => '')) === 'leader') return server;
    return undefined;
  });
}

/** Of the leader: others may be behind. */
async function list(table: string, columns: string): Promise<string[]> {
  const words = ['--timeout=20', '--format=csv', '--no-headings', `--columns=${columns}`, 'list', table];
  const text = await run(['ovn-nbctl', `--db=${endpoints.join(',')}`, ...words]);
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => line.replaceAll(/["[\]]/g, ''));
}

let pods = 0;

async function addPods(count: number): Promise<void> {
  for (const end = pods + count; pods < end; pods++)
    await cluster.addPod('shop', `pod-${pods}`, { node: `n${1 + (pods % 2)}` });
}

/** Each pod has one port, with the addresses of its IP object; of rows that have no index there is one of each. */
async function untilWhole(): Promise<void> {
  await until(
    `${pods} pods have their ports`,
    async () => {
      const ports = await list('Logical_Switch_Port', 'name,addresses');
      const { objects } = await cluster.source.list({ kinds: [{ apiVersion: 'kubeovn.io/v1', kind: 'IP' }] });
      const ips = objects.map(({ object }) => object as unknown as IP);
      const wanted = ips.map(({ metadata, spec }) => `${metadata.name},${spec.macAddress} ${spec.ipAddress}`);
      const own = ports.filter((port) => /^(pod|node)-/.test(port));
      assert.deepEqual(own.sort(), wanted.sort());
      assert.equal(new Set(ips.map(({ spec }) => spec.ipAddress)).size, pods + 2);
      const unindexed = [
        ...(await list('Logical_Router_Policy', 'priority,match')),
        ...(await list('Logical_Router_Static_Route', 'ip_prefix,nexthop')),
        ...(await list('ACL', 'priority,match')),
        ...(await list('Logical_Switch', 'name')),
      ];
      assert.deepEqual([...new Set(unindexed)], unindexed);
      return true;
    },
    { timeout: 60_000 },
  );
}

test('leaders of the database die while pods come: each pod has one port', async () => {
  let dead: OvsdbServer | undefined;
  for (let round = 0; round < 3; round++) {
    const coming = addPods(20);
    await dead?.start();
    dead = await findLeader();
    await dead.kill();
    await coming;
    await untilWhole();
  }
  await dead?.start();
});

test('pods that come while the database has no majority have their ports when it is back', async () => {
  const [one, other] = servers as [OvsdbServer, OvsdbServer, OvsdbServer];
  await Promise.all([one.kill(), other.kill()]);
  await addPods(5);
  const ipOf = (pod: number) => cluster.get<IP>('IP', `pod-${pod}.shop`);
  // A plan waits for the database for ten seconds.
  await until('they have addresses', async () => (await ipOf(pods - 1)) !== undefined, { timeout: 60_000 });
  await Promise.all([one.start(), other.start()]);
  await untilWhole();
});

test('a controller that takes over while the leader of the database dies changes no address', async () => {
  const before = await list('Logical_Switch_Port', 'name,addresses');
  cluster.startController('b', endpoints);
  const dead = await findLeader();
  await Promise.all([leading.stop(), dead.kill()]);
  await untilWhole();
  assert.deepEqual((await list('Logical_Switch_Port', 'name,addresses')).sort(), before.sort());
  await addPods(5);
  await untilWhole();
  await dead.start();
});
