/** The loop that answers pods, on a store in memory, with a logical network that only takes notes. */
import { listDefaults } from '@podwire/cluster-ovn';
import { keysBelow, ovnPodKind } from '@podwire/cluster-state';
import { createStoreSource, type IP, type Subnet } from '@podwire/objects';
import { silentLog, systemClock } from '@podwire/platform';
import { type Condition, encodeObject } from '@podwire/store';
import { createMemoryServer, type Fault, type MemoryFaults } from '@podwire/store/memory';
import { afterEach, expect, it, vi } from 'vitest';
import { OvnLoop } from '../src/ovn/ovn-loop.js';
import { findAnswer, NotingNetwork } from './noting-network.js';

const keys = keysBelow('/podwire');
const defaults = listDefaults({ joinCidr: '100.64.0.0/16', defaultCidr: '10.16.0.0/24' });
const stopped = new Set<() => Promise<void>>();
afterEach(async () => {
  for (const stop of stopped) await stop();
  stopped.clear();
});

function startLoop() {
  const server = createMemoryServer();
  const calls: string[] = [];
  let fault: Fault | undefined;
  const faults: MemoryFaults = {
    decide({ operation, key }) {
      calls.push(`${operation} ${key}`);
      if (operation !== 'transact' || fault === undefined) return undefined;
      const once = fault;
      fault = undefined;
      return once;
    },
  };
  const [store, other] = [server.connect(faults), server.connect()];
  const network = new NotingNetwork(other);
  const guard: Condition[] = [];
  const access = { store, keys, clock: systemClock, guard };
  const loop = new OvnLoop({
    access,
    network,
    defaults,
    encapsulation: 'geneve',
    log: silentLog,
    writer: 'one/1',
  });
  const end = new AbortController();
  const running = loop.run(end.signal);
  stopped.add(async () => {
    end.abort();
    await running;
  });
  const source = createStoreSource({ store: other, root: keys.root, clock: systemClock });
  return {
    ...{ network, other, loop, guard },
    failOnce: (kind: Fault) => void (fault = kind),
    countLists: () => calls.filter((call) => call.startsWith('list ')).length,
    countLooks: (key: string) => calls.filter((call) => call === `get ${key}`).length,
    addPod: (name: string) =>
      other.put(
        keys.ovnPod('shop', name),
        encodeObject(ovnPodKind, { namespace: 'shop', name, uid: `${name}-1`, annotations: {} }),
      ),
    removePod: (name: string) => other.delete(keys.ovnPod('shop', name)),
    answerOf: (name: string) => findAnswer(other, `shop/${name}`),
    listAddresses: async () => {
      const kinds = [{ apiVersion: 'kubeovn.io/v1', kind: 'IP' }];
      const { objects } = await source.list({ kinds });
      return objects.map(({ object }) => (object as unknown as IP).spec.ipAddress).sort();
    },
    usedOf: async (name: string) => {
      const found = await source.get({ apiVersion: 'kubeovn.io/v1', kind: 'Subnet', name });
      return (found?.object as Subnet | undefined)?.status?.v4usingIPs;
    },
  };
}

async function startWithPod() {
  const cluster = startLoop();
  await cluster.addPod('first');
  await expect.poll(() => cluster.network.applied).toEqual(['shop/first']);
  return cluster;
}

it('answers pods, and has them in the network when that is written, until they are gone', async () => {
  const { network, addPod, removePod, answerOf, listAddresses } = await startWithPod();
  expect(await answerOf('first')).toBe('10.16.0.2');
  await addPod('second');
  await expect.poll(() => network.applied).toEqual(['shop/first', 'shop/second']);
  await removePod('first');
  await expect.poll(() => network.applied).toEqual(['shop/second']);
  await expect.poll(listAddresses).toEqual(['10.16.0.3']);
  expect(network.unwritten).toEqual([]);
});

it('lists the store once, however many pods come', async () => {
  const { network, addPod, countLists } = await startWithPod();
  const before = countLists();
  for (let number = 0; number < 20; number++) await addPod(`more-${number}`);
  await expect.poll(() => network.applied.length).toBe(21);
  expect(countLists()).toBe(before);
});

it.each(['conflict', 'answer-lost', 'request-lost', 'unavailable'] as const)(
  'looks at everything again after a write with the fault %s, and gives no address to two',
  async (fault) => {
    const { network, addPod, failOnce, countLists, listAddresses } = await startWithPod();
    const before = countLists();
    failOnce(fault);
    await addPod('second');
    await addPod('third');
    await expect.poll(() => network.applied).toEqual(['shop/first', 'shop/second', 'shop/third']);
    expect(countLists()).toBeGreaterThan(before);
    expect(await listAddresses()).toEqual(['10.16.0.2', '10.16.0.3', '10.16.0.4']);
    expect(network.unwritten).toEqual([]);
  },
);

it('looks at everything again where another one has handed out addresses', async () => {
  const { network, addPod, other, countLists } = await startWithPod();
  const before = countLists();
  await other.put(keys.ovnGeneration, 'another');
  await addPod('second');
  await expect.poll(() => network.applied).toEqual(['shop/first', 'shop/second']);
  expect(countLists()).toBeGreaterThan(before);
});

it('writes how many addresses of a subnet are used', async () => {
  const { addPod, removePod, usedOf } = await startWithPod();
  await addPod('second');
  await expect.poll(() => usedOf('ovn-default')).toBe(2);
  await removePod('first');
  await expect.poll(() => usedOf('ovn-default')).toBe(1);
});

it('follows a subnet that comes, and one that cannot be made', async () => {
  const { loop, other, usedOf } = await startWithPod();
  const source = createStoreSource({ store: other, root: keys.root, clock: systemClock });
  const { object } = (await source.get({
    apiVersion: 'kubeovn.io/v1',
    kind: 'Subnet',
    name: 'ovn-default',
  }))!;
  const subnet = object as Subnet;
  const metadata = { name: 'second' };
  await source.save(
    Object.assign({}, subnet, { metadata, spec: { ...subnet.spec, default: false } }),
    undefined,
  );
  const message =
    'OVN_CONFLICT: Subnet second: spec.cidrBlock: 10.16.0.0/24 overlaps 10.16.0.0/24 of spec.cidrBlock of Subnet ovn-default in the VPC ovn-cluster';
  await expect.poll(() => loop.problems).toEqual([message]);
  await expect.poll(() => usedOf('second')).toBe(0);
});

it('claims the northbound database, and again when another controller has had it', async () => {
  const { network, addPod } = await startWithPod();
  expect(network.claims).toEqual(['one/1']);
  network.isClaimed = true;
  await addPod('second');
  await expect.poll(() => network.applied).toEqual(['shop/first', 'shop/second']);
  expect(network.claims).toEqual(['one/1', 'one/1']);
});

it('claims nothing any more when another controller leads', async () => {
  const { network, guard, other, countLooks } = await startWithPod();
  guard.push({ key: keys.ovnLeader, expect: 1 });
  await other.put(keys.ovnLeader, 'another');
  network.hasDrift = true;
  await expect.poll(() => countLooks(keys.ovnLeader)).toBeGreaterThan(1);
  expect(network.claims).toEqual(['one/1']);
});

it('changes no row when another controller leads since the claim', async () => {
  const { network, guard, other, addPod, countLooks } = await startWithPod();
  const revision = await other.put(keys.ovnLeader, 'one');
  guard.push({ key: keys.ovnLeader, expect: revision });
  await addPod('second');
  await expect.poll(() => network.applied).toEqual(['shop/first', 'shop/second']);
  const reconcile = vi.spyOn(network, 'reconcile');
  network.onClaim = async () => void (await other.put(keys.ovnLeader, 'another'));
  network.hasDrift = true;
  const before = countLooks(keys.ovnLeader);
  await expect.poll(() => countLooks(keys.ovnLeader)).toBeGreaterThan(before + 2);
  expect(reconcile).not.toHaveBeenCalled();
});
