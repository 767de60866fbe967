/** A store, nodes that come and go, and controllers. */
import { blockKind, keysBelow, type Node, nodeKind, poolKind, nodeLeaseKind } from '@podwire/cluster-state';
import { buildPool, readCluster, showNodes } from '@podwire/cluster-ipam/operations';
import { silentLog } from '@podwire/platform';
import { createTestClock, type TestClock } from '@podwire/platform/testing';
import { encodeObject, type Store } from '@podwire/store';
import { createMemoryServer, type MemoryStore } from '@podwire/store/memory';
import { type Controller, createController } from '../src/index.js';

export const hour = 3_600_000;
export const evictionTimeout = 24 * hour;
export const grace = hour;

export interface Running {
  readonly controller: Controller;
  readonly store: MemoryStore;
  readonly clock: TestClock;
  /** Ends it, and waits for it. */
  stop(): Promise<void>;
  /** It dies: nothing more of it reaches the store, and nothing is given back. */
  kill(): Promise<void>;
}

export function createTestCluster() {
  const clock = createTestClock();
  const server = createMemoryServer({ clock });
  const store: Store = server.connect();
  const keys = keysBelow('/podwire');
  const access = { store, keys, clock };
  const { signal }: { signal: AbortSignal } = new AbortController();
  const running = new Set<Running>();

  /** @param wrap the store as the controller sees it */
  function startController(name = 'c', skew = 0, wrap = (given: Store): Store => given): Running {
    const own = server.connect();
    const stopped = new AbortController();
    const wall = clock.another(skew);
    const options = {
      store: wrap(own),
      keys,
      clock: wall,
      log: silentLog,
      name,
      ttl: hour,
      evictionTimeout,
      grace,
    };
    const controller = createController(options);
    const end = controller.run(stopped.signal);
    const one: Running = {
      controller,
      store: own,
      clock: wall,
      async stop() {
        running.delete(one);
        stopped.abort();
        await end;
      },
      async kill() {
        running.delete(one);
        own.cut();
        stopped.abort();
        await clock.advance(2 * hour);
        await end;
      },
    };
    running.add(one);
    return one;
  }

  return {
    clock,
    server,
    store,
    keys,
    access,
    signal,
    startController,
    async stopAll() {
      for (const one of [...running]) await one.stop();
    },
    pool: () =>
      store.put(
        keys.pool('main'),
        encodeObject(poolKind, buildPool({ name: 'main', network: 'default', cidr: '10.244.0.0/16' }, [])),
      ),
    /** As an agent does it: in one transaction with the end of its absence. */
    arrive: async (name: string, instance = `${name}-1`, more: Partial<Node> = {}) => {
      const presence = encodeObject(nodeLeaseKind, { node: name, instance, since: clock.now() });
      await store.transact({
        conditions: [],
        writes: [
          { op: 'put', key: keys.nodeLease(name), value: presence },
          { op: 'delete', key: keys.unreachable(name) },
        ],
      });
      const node = {
        name,
        instance,
        version: '0.1.0',
        labels: {},
        addresses: {},
        mtu: 1500,
        registeredAt: clock.now(),
        ...more,
      };
      if ((await store.get(keys.node(name))) === undefined) {
        await store.put(keys.node(name), encodeObject(nodeKind, node));
      }
      await clock.settle();
    },
    leave: async (name: string) => {
      await store.delete(keys.nodeLease(name));
      await clock.settle();
    },
    block: (cidr: string, node: string | undefined) =>
      store.put(
        keys.block(cidr),
        encodeObject(blockKind, {
          cidr,
          ...(node === undefined ? {} : { node, instance: `${node}-1` }),
          state: 'confirmed',
          claimedAt: clock.now(),
          loans: [],
        }),
      ),
    stateOf: async (name: string) =>
      showNodes(await readCluster(access, signal)).find((node) => node.name === name)?.state,
  };
}

export type TestCluster = ReturnType<typeof createTestCluster>;
