import { nodeLeaseKind } from '@podwire/cluster-state';
import { type Log, silentLog, systemClock } from '@podwire/platform';
import { encodeObject, type Write } from '@podwire/store';
import { createMemoryServer } from '@podwire/store/memory';
import { expect, onTestFinished, test } from 'vitest';
import { PeerLeases } from '../../src/cluster/peer-leases.js';
import { keys, until } from '../fakes/cluster.js';

const unknown = { reachable: null, unreachableSince: null };
const ready = { reachable: true, unreachableSince: null };
const goneSince = (time: number) => ({ reachable: false, unreachableSince: new Date(time).toISOString() });

/** Seen from n1. The wall clock stands still until a test moves it. */
function follow(names: readonly string[], leased: readonly string[]) {
  const server = createMemoryServer();
  const [store, writer] = [server.connect({ timeout: 5 }), server.connect({ timeout: 5 })];
  const write = async (...writes: Write[]): Promise<void> =>
    void (await writer.transact({ conditions: [], writes }));
  const lease = (node: string): Promise<void> =>
    write({
      op: 'put',
      key: keys.nodeLease(node),
      value: encodeObject(nodeLeaseKind, { node, instance: 'a', since: 0 }),
    });
  const time = { now: 1_000 };
  let endGrace = (): void => undefined;
  const grace = new Promise<void>((resolve) => (endGrace = resolve));
  const logged: string[] = [];
  const note = (fields: object, message: string): void => {
    if ('peer' in fields) logged.push(`${String(fields.peer)}: ${message.split(':')[0]}`);
  };
  const log: Log = { ...silentLog, info: note, warn: note };
  const nodes = new Map(names.map((name) => [name, {}]));
  const start = async (): Promise<PeerLeases> => {
    for (const node of leased) await lease(node);
    const leases = new PeerLeases({
      ...{ store, keys, nodeName: 'n1', nodes, nodesSynced: Promise.resolve(), log },
      clock: { ...systemClock, now: () => time.now, sleep: () => grace },
    });
    onTestFinished(() => leases.close());
    await until(() => leases.areKnown);
    return leases;
  };
  onTestFinished(() => Promise.all([store.close(), writer.close()]).then(() => undefined));
  const end = (node: string): Promise<void> => write({ op: 'delete', key: keys.nodeLease(node) });
  return { store, nodes, time, logged, lease, end, start, endGrace: () => endGrace() };
}

test('a peer is unreachable from when its lease was seen to be gone until it holds one again', async () => {
  const world = follow(['n1', 'n2', 'n3'], ['n1', 'n2']);
  const leases = await world.start();
  expect(leases.reachabilityOf('n2')).toEqual(ready);
  expect(leases.reachabilityOf('n3')).toEqual(goneSince(1_000));
  world.time.now = 5_000;
  await world.end('n2');
  await until(() => leases.reachabilityOf('n2').reachable === false);
  expect(leases.reachabilityOf('n2')).toEqual(goneSince(5_000));
  world.time.now = 9_000;
  await world.lease('n2');
  await until(() => leases.reachabilityOf('n2').reachable);
  expect(leases.reachabilityOf('n2')).toEqual(ready);
  expect(world.logged).toEqual([
    'n3: a peer is unreachable',
    'n2: a peer is unreachable',
    'n2: a peer is back',
  ]);
});

test('while the store is away no peer is called unreachable, and afterwards the time has not begun again', async () => {
  const world = follow(['n1', 'n2', 'n3'], ['n2']);
  const leases = await world.start();
  world.store.cut();
  await until(() => !leases.areKnown);
  expect(['n2', 'n3'].map((name) => leases.reachabilityOf(name))).toEqual([unknown, unknown]);
  world.time.now = 8_000;
  await world.end('n2');
  world.store.restore();
  await until(() => leases.reachabilityOf('n2').reachable === false);
  expect(leases.reachabilityOf('n2')).toEqual(goneSince(8_000));
  expect(leases.reachabilityOf('n3')).toEqual(goneSince(1_000));
});

test('a node that is known before its lease is unreachable after a grace, and a node that goes is forgotten', async () => {
  const world = follow(['n1', 'n3'], []);
  const leases = await world.start();
  world.nodes.set('n2', {});
  world.nodes.set('n4', {});
  leases.noteNodes(['n2', 'n4']);
  expect(leases.reachabilityOf('n2')).toEqual(unknown);
  await world.lease('n4');
  await until(() => leases.reachabilityOf('n4').reachable);
  world.endGrace();
  await until(() => leases.reachabilityOf('n2').reachable === false);
  world.nodes.delete('n3');
  leases.noteNodes(['n3']);
  expect(leases.reachabilityOf('n3')).toEqual(unknown);
  expect(world.logged).toEqual(['n3: a peer is unreachable', 'n2: a peer is unreachable']);
});
