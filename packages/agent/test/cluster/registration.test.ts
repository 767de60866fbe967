import {
  machineLabel,
  type UnreachableNode,
  unreachableKind,
  type Node,
  nodeKind,
  nodeLeaseKind,
} from '@podwire/cluster-state';
import { noFaults, silentLog, systemClock } from '@podwire/platform';
import { decodeObject, encodeObject } from '@podwire/store';
import {
  createMemoryServer,
  type Fault,
  type MemoryServer,
  type MemoryStore,
  randomFaults,
} from '@podwire/store/memory';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Registration } from '../../src/cluster/registration.js';
import { keys, until } from '../fakes/cluster.js';
import { containing } from '../fakes/matchers.js';

const node = (more: Partial<Node> = {}): Node => ({
  name: 'n1',
  instance: 'a',
  version: '1',
  labels: {},
  addresses: { ipv4: '192.0.2.1/24' },
  mtu: 1500,
  registeredAt: 5,
  ...more,
});

interface Subject {
  readonly registration: Registration;
  readonly store: MemoryStore;
  readonly written: string[];
}

const day = 86_400_000;

interface More {
  readonly vanishAfter?: number;
  readonly describe?: () => Node | undefined;
}

function register(
  server: MemoryServer,
  instance = 'a',
  ttl = 500,
  machine?: string,
  { vanishAfter = day, describe = () => undefined }: More = {},
): Subject {
  const store = server.connect({ timeout: 5 });
  const written: string[] = [];
  const registration = new Registration({
    node: 'n1',
    instance,
    ...(machine === undefined ? {} : { machine }),
    store,
    keys,
    clock: systemClock,
    log: silentLog,
    faults: noFaults,
    ttl,
    evictionTimeout: vanishAfter,
    describe,
    noteWritten: (key) => void written.push(key),
  });
  onTestFinished(async () => {
    await registration.stop();
    await store.close();
  });
  registration.start();
  return { registration, store, written };
}

/** The same numbers in every run. */
function countedChance(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647; // MINSTD
    return state / 2_147_483_647;
  };
}

const kindOf = ({ registration }: Subject): string => registration.state.kind;

async function read(server: MemoryServer): Promise<{ presence?: string; node?: Node; absent: boolean }> {
  const store = server.connect();
  const [presence, object, absence] = await Promise.all(
    [keys.nodeLease('n1'), keys.node('n1'), keys.unreachable('n1')].map((key) => store.get(key)),
  );
  await store.close();
  return {
    ...(presence === undefined ? {} : { presence: decodeObject(nodeLeaseKind, '', presence.value).instance }),
    ...(object === undefined ? {} : { node: decodeObject(nodeKind, '', object.value) }),
    absent: absence !== undefined,
  };
}

describe('registration', () => {
  test('takes the presence, ends the absence, writes the node, and takes the presence back', async () => {
    const server = createMemoryServer();
    const absence: UnreachableNode = { node: 'n1', instance: 'old', since: 1 };
    const other = server.connect();
    await other.put(keys.unreachable('n1'), encodeObject(unreachableKind, absence));
    const subject = register(server);
    subject.registration.publish(node());
    await until(async () => (await read(server)).node);
    expect(await read(server)).toMatchObject({ presence: 'a', absent: false, node: { registeredAt: 5 } });
    expect(subject.written).toEqual([keys.node('n1')]);
    await subject.registration.stop();
    expect(await read(server)).toMatchObject({ node: { instance: 'a' } });
    expect((await read(server)).presence).toBeUndefined();
    await other.close();
  });

  test('a new node is known from the moment on that its presence is', async () => {
    const server = createMemoryServer();
    register(server, 'a', 500, undefined, { describe: () => node({ vanishAfter: day }) });
    await until(async () => (await read(server)).presence);
    const store = server.connect();
    const [presence, object] = await Promise.all([
      store.get(keys.nodeLease('n1')),
      store.get(keys.node('n1')),
    ]);
    expect(object?.revision).toBe(presence?.revision);
    await store.close();
  });

  test('how long it goes on without the store is told with the presence, and nothing else of it changes', async () => {
    const server = createMemoryServer();
    const store = server.connect();
    const before = node({ version: '0', mtu: 9000, vanishAfter: day });
    await store.put(keys.node('n1'), encodeObject(nodeKind, before));
    register(server, 'a', 500, undefined, { vanishAfter: 2 * day, describe: () => node({ mtu: 1 }) });
    await until(async () => (await read(server)).presence);
    expect((await read(server)).node).toEqual({ ...before, vanishAfter: 2 * day });
    const [presence, object] = await Promise.all([
      store.get(keys.nodeLease('n1')),
      store.get(keys.node('n1')),
    ]);
    expect(object?.revision).toBe(presence?.revision);
    await store.close();
  });

  test('what has changed is written, with the time of the first registration; what has not is not', async () => {
    const server = createMemoryServer();
    const subject = register(server);
    subject.registration.publish(node());
    await until(() => subject.written.length === 1);
    subject.registration.publish(node({ registeredAt: 9 }));
    subject.registration.publish(node({ mtu: 1400, registeredAt: 10 }));
    await until(async () => (await read(server)).node?.mtu === 1400);
    expect((await read(server)).node?.registeredAt).toBe(5);
    const { revision } = server;
    subject.registration.publish(node({ mtu: 1400, registeredAt: 11 }));
    await until(async () => (await read(server)).node?.mtu === 1400);
    expect(server.revision).toBe(revision);
  });

  test('the same instance takes over at once; another one when the lease has ended', async () => {
    const server = createMemoryServer();
    const first = register(server, 'a', 60_000);
    await until(() => kindOf(first) === 'registered');
    const same = register(server, 'a', 300);
    await until(() => kindOf(same) === 'registered');
    const other = register(server, 'b', 300);
    await until(() => kindOf(other) === 'taken');
    expect(other.registration.state).toMatchObject({
      error: { code: 'NODE_NAME_TAKEN', details: { instance: 'a' } },
    });
    same.store.cut();
    await until(() => kindOf(other) === 'registered');
    expect((await read(server)).presence).toBe('b');
    await until(() => kindOf(same) === 'away');
    same.store.restore();
    await until(() => kindOf(same) === 'taken');
  });

  test('another boot of the machine has the name at once; another machine when the node is forgotten', async () => {
    const server = createMemoryServer();
    const first = register(server, 'a', 300, 'm1');
    first.registration.publish(node({ labels: { [machineLabel]: 'm1' } }));
    await until(() => first.written.length === 1);
    await first.registration.stop();
    const boot = register(server, 'b', 300, 'm1');
    boot.registration.publish(node({ instance: 'b', labels: { [machineLabel]: 'm1' } }));
    await until(() => boot.written.length === 1);
    await boot.registration.stop();
    // Its pods are alive, and have addresses of its blocks.
    const other = register(server, 'c', 300, 'm2');
    await until(() => kindOf(other) === 'taken');
    expect(other.registration.state).toMatchObject({
      error: { code: 'NODE_NAME_TAKEN', message: containing('podwire nodes forget n1') },
    });
    const operator = server.connect();
    await operator.delete(keys.node('n1'));
    await until(() => kindOf(other) === 'registered');
    await operator.close();
  });

  test.each<Fault>(['answer-lost', 'request-lost', 'unavailable', 'conflict'])(
    'ends well when four calls of ten meet: %s',
    async (fault) => {
      const server = createMemoryServer();
      const subject = register(server);
      subject.store.faults.decide = randomFaults({ [fault]: 0.4 }, countedChance());
      subject.registration.publish(node());
      await until(async () => (await read(server)).node !== undefined && kindOf(subject) === 'registered');
      subject.store.faults.decide = () => undefined;
      // The lease may have ended between the two looks; without faults it is taken again.
      await until(async () => (await read(server)).presence === 'a');
    },
  );

  test('a presence that was deleted is taken again before the node is written', async () => {
    const server = createMemoryServer();
    const subject = register(server);
    await until(() => kindOf(subject) === 'registered');
    const other = server.connect();
    await other.delete(keys.nodeLease('n1'));
    subject.registration.publish(node());
    await until(async () => (await read(server)).node !== undefined);
    expect((await read(server)).presence).toBe('a');
    await other.close();
  });

  test('a node object that cannot be decoded is written again', async () => {
    const server = createMemoryServer();
    const other = server.connect();
    await other.put(keys.node('n1'), 'nonsense');
    const subject = register(server);
    subject.registration.publish(node());
    await until(() => subject.written.length === 1);
    expect((await read(server)).node).toMatchObject({ instance: 'a' });
    await other.close();
  });
});
