/** ADDs that wait for the cluster hold up no other call, and leave nothing behind a DEL. */
import type { NodeAddressing, PodAddresses } from '@podwire/cluster-ipam';
import { type Workload, workloadKind } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { encodeObject } from '@podwire/store';
import { describe, expect, test } from 'vitest';
import { createTestCluster, keys, until } from '../fakes/cluster.js';
import {
  call,
  createGate,
  createGatedCluster,
  expectNothingOf,
  type Gate,
  type Gates,
  podArgs,
  startNode,
} from '../fakes/gates.js';
import { keyOf, type TestAnswer, type TestCall } from '../fakes/harness.js';
import { containing } from '../fakes/matchers.js';

const addressesOf = ({ json }: TestAnswer): string[] =>
  ((json['ips'] ?? []) as { address: string }[]).map(({ address }) => address.split('/')[0]!);

/** An address of a block that no node holds, so that an ADD that names it must ask the cluster. */
const elsewhere = '10.9.0.200';
const askFor = (id: string, address = elsewhere): TestCall => ({ args: `${podArgs(id)};IP=${address}` });

const waitingAt = (gate: Gate, count = 1): Promise<unknown> => until(() => gate.waiting === count);

describe('while an ADD waits for the cluster', () => {
  test('a reconcile and the ADDs, DELs and GCs behind it go on', async () => {
    const gates = { provide: createGate() };
    const node = await startNode(gates);
    const slow = call(node, 'ADD', 'slow', askFor('slow'));
    await waitingAt(gates.provide);
    const others = [
      node.reconciler.run().then(() => true),
      call(node, 'ADD', 'other').then(({ ok }) => ok),
      call(node, 'DEL', 'first').then(({ ok }) => ok),
      node.call('GC', { config: { name: 'another' } }).then(({ ok }) => ok),
    ];
    expect(await Promise.all(others)).toEqual([true, true, true, true]);
    expect(gates.provide.waiting).toBe(1);
    gates.provide.open();
    expect(addressesOf(await slow)).toEqual([elsewhere]);
    expect(node.engine.violations).toEqual([]);
  });

  test('so it is with a store that does not answer', async () => {
    const cluster = createTestCluster();
    await cluster.putPool({ name: 'p', cidr: '10.9.0.0/24', blockSize: 28 });
    const node = cluster.node('n1');
    await node.start();
    let hanging = 0;
    node.store.faults.latency = ({ operation, key }) => {
      if (operation !== 'transact' || key !== keys.block('10.9.0.192/28')) return 0;
      hanging++;
      return 3_600_000;
    };
    const slow = call(node, 'ADD', 'slow', askFor('slow'));
    await until(() => hanging > 0);
    await Promise.all([node.reconciler.run(), call(node, 'ADD', 'other')]);
    expect(node.context.endpoints.get(keyOf('other'))?.phase).toBe('ready');
    expect((await call(node, 'DEL', 'slow')).ok).toBe(true);
    expect((await slow).json).toMatchObject({ code: 3, msg: containing('ENDPOINT_UNKNOWN') });
    expectNothingOf(node, 'slow');
  });

  test('it has its time, and no more', async () => {
    const gates = { provide: createGate() };
    const cluster = createGatedCluster(gates);
    await cluster.putPool({ name: 'p', cidr: '10.9.0.0/24', blockSize: 28 });
    const node = cluster.node('n1', { yaml: hasty });
    await node.start();
    const { json } = await call(node, 'ADD', 'slow', askFor('slow'));
    expect(json).toMatchObject({ code: 11, msg: containing('DEADLINE_EXCEEDED') });
    expectNothingOf(node, 'slow');
  });

  test('the agent stops without it', async () => {
    const gates = { provide: createGate() };
    const node = await startNode(gates);
    const slow = call(node, 'ADD', 'slow', askFor('slow'));
    await waitingAt(gates.provide);
    node.context.pendingAdds.stop();
    expect((await slow).json).toMatchObject({ code: 11, msg: containing('AGENT_NOT_READY') });
    expect((await call(node, 'ADD', 'late', askFor('late'))).json.msg).toContain('is stopping');
    expectNothingOf(node, 'slow');
  });
});

describe('an ADD that waits for the cluster', () => {
  test('is ended by a DEL, which does not wait for it', async () => {
    const gates: Gates & { provide: Gate } = { provide: createGate() };
    const node = await startNode(gates);
    const slow = call(node, 'ADD', 'slow', askFor('slow'));
    await waitingAt(gates.provide);
    expect((await call(node, 'DEL', 'slow')).ok).toBe(true);
    expectNothingOf(node, 'slow');
    const { ok, json } = await slow;
    expect(ok).toBe(false);
    expect(json).toMatchObject({ code: 3, msg: containing('was removed while its ADD waited') });
    gates.provide.open();
    await node.reconciler.run();
    expectNothingOf(node, 'slow');
    // An ADD that comes later is another one.
    expect(addressesOf(await call(node, 'ADD', 'slow', askFor('slow')))).toEqual([elsewhere]);
  });

  test('is ended by a DEL also when it has got its address and waits for its turn behind that', async () => {
    const gates = { provide: createGate() };
    const node = await startNode(gates);
    const slow = call(node, 'ADD', 'slow', askFor('slow'));
    await waitingAt(gates.provide);
    const turn = createGate();
    const holding = node.context.locks.withAll(new AbortController().signal, () => turn.opened);
    const removing = call(node, 'DEL', 'slow');
    gates.provide.open();
    await until(() => node.addressing.affinities().some(({ cidr }) => cidr === '10.9.0.192/28'));
    turn.open();
    await holding;
    expect((await removing).ok).toBe(true);
    expect((await slow).json).toMatchObject({ code: 3 });
    expectNothingOf(node, 'slow');
  });

  test('that is the first to have its turn is removed by the DEL behind it', async () => {
    const gates = { provide: createGate() };
    const node = await startNode(gates);
    const slow = call(node, 'ADD', 'slow', askFor('slow'));
    await waitingAt(gates.provide);
    const applying = createGate();
    node.engine.between = async (point) => {
      if (point.startsWith('apply')) applying.waiting = 1;
      await applying.opened;
    };
    gates.provide.open();
    await waitingAt(applying);
    const removing = call(node, 'DEL', 'slow');
    applying.open();
    expect((await slow).ok).toBe(true);
    expect((await removing).ok).toBe(true);
    expectNothingOf(node, 'slow');
  });

  test('is ended by a DEL that came while it still held its endpoint', async () => {
    const gates = { provide: createGate() };
    const node = await startNode(gates);
    const holding = createGate();
    const held = node.context.locks.withKey(
      keyOf('slow'),
      new AbortController().signal,
      () => holding.opened,
    );
    const slow = call(node, 'ADD', 'slow', askFor('slow'));
    const removing = call(node, 'DEL', 'slow');
    holding.open();
    await held;
    expect((await removing).ok).toBe(true);
    expect((await slow).json).toMatchObject({ code: 3 });
    expect(gates.provide.waiting).toBe(0);
    expectNothingOf(node, 'slow');
  });

  test('is ended by a GC that does not list it, and by no other', async () => {
    const gates = { provide: createGate() };
    const node = await startNode(gates);
    const [slow, listed] = ['slow', 'listed'].map((id, index) =>
      call(node, 'ADD', id, askFor(id, `10.9.0.20${index}`)),
    ) as [Promise<TestAnswer>, Promise<TestAnswer>];
    await waitingAt(gates.provide, 2);
    const valid = ['first', 'listed'].map((containerID) => ({ containerID, ifname: 'eth0' }));
    expect((await node.call('GC', { config: { 'cni.dev/valid-attachments': valid } })).ok).toBe(true);
    expect((await slow).json).toMatchObject({ code: 3 });
    expect(gates.provide.waiting).toBe(1);
    gates.provide.open();
    expect((await listed).ok).toBe(true);
    expectNothingOf(node, 'slow');
  });

  test('finds everything as it is when it comes back', async () => {
    const gates: Gates & { provide: Gate } = { provide: createGate() };
    const node = await startNode(gates);
    const slow = [call(node, 'ADD', 'a', askFor('a')), call(node, 'ADD', 'b', askFor('b', '10.9.0.100'))];
    await waitingAt(gates.provide, 2);
    node.namespaces.set('/run/netns/a', undefined);
    gates.provide.open();
    const [gone, there] = (await Promise.all(slow)) as [TestAnswer, TestAnswer];
    expect(gone.json).toMatchObject({ code: 3, msg: containing('NAMESPACE_GONE') });
    expect(there.ok).toBe(true);
    const gate = (gates.provide = createGate());
    const late = call(node, 'ADD', 'c', askFor('c', '10.9.0.40'));
    await waitingAt(gate);
    node.context.readiness.ready = false;
    gate.open();
    expect((await late).json).toMatchObject({ code: 11, msg: containing('AGENT_NOT_READY') });
    expectNothingOf(node, 'c');
  });

  test('twice is one endpoint and one answer', async () => {
    const gates = { provide: createGate() };
    const node = await startNode(gates);
    const twice = [1, 2].map(() => call(node, 'ADD', 'slow', askFor('slow')));
    await waitingAt(gates.provide, 2);
    gates.provide.open();
    const [one, two] = (await Promise.all(twice)) as [TestAnswer, TestAnswer];
    expect([one.ok, two.body]).toEqual([true, one.body]);
    expect(node.engine.calls.filter((each) => each === `apply endpoint:${keyOf('slow')}`)).toHaveLength(1);
    expect((await call(node, 'DEL', 'slow')).ok).toBe(true);
    expectNothingOf(node, 'slow');
  });

  test('whose plugin has died leaves nothing', async () => {
    const gates = { provide: createGate() };
    const node = await startNode(gates);
    const slow = call(node, 'ADD', 'slow', {
      ...askFor('slow'),
      answer: () => Promise.reject(new Error('EPIPE')),
    });
    await waitingAt(gates.provide);
    gates.provide.open();
    expect((await slow).ok).toBe(false);
    expectNothingOf(node, 'slow');
  });

  test('loses its address to another, and asks again; who always loses is told', async () => {
    let asked = 0;
    const exhausted = (): PodwireError => new PodwireError('POOL_EXHAUSTED', 'taken again');
    const node = await startNode({}, { provide: () => Promise.resolve(void asked++) });
    const [network] = node.context.networks;
    const allocate = network!.ipam.allocate.bind(network!.ipam);
    let luck = 3;
    network!.ipam.allocate = (request) => {
      if (luck-- > 0) throw exhausted();
      return allocate(request);
    };
    expect((await call(node, 'ADD', 'a')).ok).toBe(true);
    expect(asked).toBe(3);
    luck = Infinity;
    expect((await call(node, 'ADD', 'b')).json).toMatchObject({ code: 11, msg: containing('taken again') });
    expect(asked).toBe(3 + 9);
    expectNothingOf(node, 'b');
  });
});

describe('a pod whose workload has addresses', () => {
  const key = keys.workload('default', 'web', 'db');
  const workload: Workload = {
    network: 'default',
    namespace: 'web',
    name: 'db',
    addresses: ['10.9.0.77'],
    pools: [],
    sticky: false,
    assigned: {},
  };

  async function startWithWorkload(gates: Gates, change?: Partial<NodeAddressing>) {
    const cluster = createGatedCluster(gates, change);
    await cluster.putPool({ name: 'p', cidr: '10.9.0.0/24', blockSize: 28 });
    await cluster.store.put(key, encodeObject(workloadKind, workload));
    const node = cluster.node('n1');
    await node.start();
    await until(() => node.addressing.hasWorkload('default', { namespace: 'web', name: 'db' }));
    const assigned = async (): Promise<string> => (await cluster.store.get(key))?.value ?? '';
    return { node, assigned };
  }
  const isAssigned = /"assigned":\s*\{\s*"db"/;

  test('gets them while others go on', async () => {
    const gates = { addressesFor: createGate() };
    const { node, assigned } = await startWithWorkload(gates);
    const slow = call(node, 'ADD', 'db');
    await waitingAt(gates.addressesFor);
    await Promise.all([node.reconciler.run(), call(node, 'ADD', 'other')]);
    expect(node.context.endpoints.get(keyOf('other'))?.phase).toBe('ready');
    gates.addressesFor.open();
    expect(addressesOf(await slow)).toEqual(['10.9.0.77']);
    expect(await assigned()).toMatch(isAssigned);
    expect((await call(node, 'DEL', 'db')).ok).toBe(true);
    await until(async () => !isAssigned.test(await assigned()));
  });

  test('that is removed before it has them leaves them to the workload', async () => {
    const gates = { addressesFor: createGate() };
    const { node, assigned } = await startWithWorkload(gates);
    const slow = call(node, 'ADD', 'db');
    await waitingAt(gates.addressesFor);
    expect(await assigned()).toMatch(isAssigned);
    expect((await call(node, 'DEL', 'db')).ok).toBe(true);
    expect((await slow).json).toMatchObject({ code: 3 });
    await until(async () => !isAssigned.test(await assigned()));
    expectNothingOf(node, 'db');
  });

  test('keeps them when another endpoint of it was removed', async () => {
    const gates: Gates = {};
    const { node, assigned } = await startWithWorkload(gates);
    expect(addressesOf(await call(node, 'ADD', 'db'))).toEqual(['10.9.0.77']);
    const gate = (gates.addressesFor = createGate());
    const again = call(node, 'ADD', 'again', { args: podArgs('db') });
    await waitingAt(gate);
    const unassigned: string[] = [];
    node.addressing.noteUnassigned = (_, { name }) => void unassigned.push(name);
    expect((await call(node, 'DEL', 'again')).ok).toBe(true);
    expect((await again).json).toMatchObject({ code: 3 });
    expect(unassigned).toEqual([]);
    expect(await assigned()).toMatch(isAssigned);
  });

  test('keeps them when another endpoint of it goes that was there', async () => {
    const { node, assigned } = await startWithWorkload({});
    expect(addressesOf(await call(node, 'ADD', 'db'))).toEqual(['10.9.0.77']);
    const other = { args: `${podArgs('db')};IP=10.9.0.201` };
    expect(addressesOf(await call(node, 'ADD', 'other', other))).toEqual(['10.9.0.201']);
    const unassigned: string[] = [];
    node.addressing.noteUnassigned = (_, { name }) => void unassigned.push(name);
    expect((await call(node, 'DEL', 'other')).ok).toBe(true);
    expect(unassigned).toEqual([]);
    expect(await assigned()).toMatch(isAssigned);
    expect((await call(node, 'DEL', 'db')).ok).toBe(true);
    expect(unassigned).toEqual(['db']);
  });

  test('gets a static address that its node has lost again meanwhile', async () => {
    const given: PodAddresses = { requested: ['10.9.0.77'], preferred: [], workload: 'web/db' };
    const { node } = await startWithWorkload({}, { addressesFor: () => Promise.resolve(given) });
    expect(node.addressing.affinities().map(({ cidr }) => cidr)).not.toContain('10.9.0.64/28');
    expect(addressesOf(await call(node, 'ADD', 'db'))).toEqual(['10.9.0.77']);
  });
});

/** As the other nodes', with little time for a request. */
const hasty = `nodeName: n1
networks: [{ name: default }]
deadlines: { request: 300ms }
cluster:
  store: { kind: embedded }
`;
