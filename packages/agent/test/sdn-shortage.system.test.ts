/** VNIDs that two namespaces have, and subnets of which there are too few: what the controller does, and pods get. Real etcd. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { HostSubnet, NetNamespace } from '@podwire/objects';
import { assertBlocked, eventually, pings, until } from '@podwire/testkit';
import { apiSocketOf, askStatus, keys, type Machine } from './fakes/cluster-fixture.js';
import {
  changeNetwork,
  createSdnFixture,
  hostSubnet,
  namespace,
  netNamespace,
  type SdnFixture,
} from './fakes/sdn-fixture.js';
import { addPod, removePod, type SdnPod } from './fakes/sdn-pods.js';

let fixture: SdnFixture;
let one: Machine;
let global: SdnPod;

before(async () => {
  // Two subnets, of which a machine that is no node has one.
  const small = { CIDR: '10.128.0.0/27', hostSubnetLength: 4 };
  fixture = await createSdnFixture('short', { agents: 1, ...small });
  one = fixture.machines[0]!;
  await fixture.apply(router);
  for (const name of ['default', 'shop', 'bank']) await fixture.apply(namespace(name));
  global = await addPod(one, 'default');
});
after(async () => fixture?.close());

const router = {
  ...{ apiVersion: 'network.openshift.io/v1', kind: 'HostSubnet', metadata: { name: 'router' } },
  ...{ host: 'router', hostIP: '192.0.2.9', subnet: '10.128.0.16/28', egressIPs: [], egressCIDRs: [] },
};

const readProject = async (name: string): Promise<NetNamespace | undefined> =>
  (await fixture.read(netNamespace(name))) as NetNamespace | undefined;

/** Resolves with the VNID that the namespace has got. */
const vnidOf = async (name: string): Promise<number> =>
  (await until(`${name} has a VNID`, () => readProject(name))).netid;

/** By hand. */
async function giveVnid(name: string, netid: number): Promise<void> {
  const changed = { ...(await readProject(name))!, netid };
  await fixture.apply(changed);
}

const untilReached = (from: SdnPod, to: SdnPod): Promise<void> =>
  eventually(`${from.address} reaches ${to.address}`, () => pings(from.namespace, to.address));
const isolates = (from: SdnPod, to: SdnPod): Promise<void> =>
  assertBlocked(from.namespace, to.namespace, to.address, [global]);
const untilIsolated = (from: SdnPod, to: SdnPod): Promise<true> =>
  until(`${from.address} does not reach ${to.address}`, () => isolates(from, to).then(() => true as const));

test('two namespaces that were given one VNID by hand are one project, and no other gets it until both are gone', async () => {
  const shared = await vnidOf('shop');
  await fixture.apply(namespace('mall'));
  assert.notEqual(await vnidOf('mall'), shared);
  const [shop, mall] = [await addPod(one, 'shop'), await addPod(one, 'mall')];
  const bank = await addPod(one, 'bank');
  await isolates(shop, mall);
  await giveVnid('mall', shared);
  await untilReached(shop, mall);
  await isolates(bank, mall);
  await removePod(shop);
  await fixture.remove({ apiVersion: 'v1', kind: 'Namespace', name: 'shop' });
  await eventually('shop has no VNID', async () => (await readProject('shop')) === undefined);
  // The next leader looks for one from the lowest on.
  await fixture.delete(keys.leader);
  await fixture.apply(namespace('late'));
  assert.notEqual(await vnidOf('late'), shared);
  const late = await addPod(one, 'late');
  await isolates(late, mall);
  for (const pod of [mall, bank, late]) await removePod(pod);
});

test('of two namespaces with one VNID the one that is isolated gets one that is free, and the other keeps it', async () => {
  const shared = await vnidOf('bank');
  await giveVnid('mall', shared);
  const [mall, bank] = [await addPod(one, 'mall'), await addPod(one, 'bank')];
  await untilReached(bank, mall);
  await changeNetwork(fixture, 'mall', 'isolate');
  await eventually('mall has another VNID', async () => (await vnidOf('mall')) !== shared);
  assert.equal(await vnidOf('bank'), shared);
  await untilIsolated(bank, mall);
  await untilIsolated(mall, bank);
  for (const pod of [mall, bank]) await removePod(pod);
});

test('a node for which no subnet is left is not ready and says so, and gets one that was deleted', async () => {
  const socket = apiSocketOf(fixture.hosts.hosts[1]!);
  const free = async (): Promise<void> => {
    let problem: string | null = null;
    const says = async (): Promise<boolean> => {
      problem = (await askStatus(socket)).problem;
      return /^this node has no subnet of network default yet/.test(problem ?? '');
    };
    await until('n2 says that it has no subnet', says, { describe: () => problem });
    assert.equal((await askStatus(socket)).ready, false);
    await eventually('the node that leads says why', async () => {
      const { problems } = (await one.status()).cluster;
      return (
        problems.includes('SDN_EXHAUSTED: no subnet is free for n2 in 10.128.0.0/27') || problems.join('; ')
      );
    });
    await fixture.remove(hostSubnet('router'));
  };
  const [two] = await Promise.all([fixture.join(1), free()]);
  const own = (await fixture.read(hostSubnet('n2'))) as HostSubnet | undefined;
  assert.equal(own?.subnet, router.subnet);
  await eventually('the problem has gone', async () => (await one.status()).cluster.problems.length === 0);
  const [near, far] = [await addPod(one, 'bank'), await addPod(two, 'bank')];
  await untilReached(near, far);
  await untilReached(far, near);
  for (const pod of [near, far]) await removePod(pod);
});

test('controllers that take the lead from each other give no VNID twice', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `ns${index}`);
  for (const [index, name] of names.entries()) {
    await fixture.apply(namespace(name));
    // The earlier leader learns of it seconds later: until then both take themselves for the leader.
    if (index === 5 || index === 20) await fixture.delete(keys.leader);
  }
  const vnids = await Promise.all([...names, 'mall', 'bank', 'late'].map(vnidOf));
  assert.equal(new Set(vnids).size, vnids.length);
  assert.ok(
    vnids.every((vnid) => vnid >= 10),
    vnids.join(' '),
  );
  const pods = [await addPod(one, names.at(-1)!), await addPod(one, names.at(-2)!)] as const;
  await isolates(...pods);
  for (const pod of pods) await removePod(pod);
});
