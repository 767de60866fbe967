/**
 * How soon others know the way to a node that has just come: followers with a connection to etcd, a cache and a planner each, as an agent
 * has them, and no kernel. The newcomer registers and claims as an agent does.
 */
import { keysBelow, nodeKind, openClusterCache, poolKind, nodeLeaseKind } from '@podwire/cluster-state';
import type { NodeView } from '@podwire/network-contract';
import { createRoutedModel } from '@podwire/network-routed';
import { orAborted, silentLog, systemClock, withDeadline } from '@podwire/platform';
import { encodeObject, openStore, type Store } from '@podwire/store';
import { startEtcd } from '@podwire/testkit/etcd';
import { quantile } from '../statistics.js';
import { fillPool, network, startBareNode } from './bare-node.js';

export interface NewcomerFigures {
  readonly followers: number;
  readonly newcomers: number;
  /** Milliseconds from the beginning of the registration until the last follower has planned its routes: median and longest. */
  readonly median: number;
  readonly longest: number;
}

export interface NewcomerOptions {
  readonly followers: number;
  readonly newcomers: number;
  readonly signal: AbortSignal;
  readonly progress: (done: number, total: number) => void;
}

const keys = keysBelow('/podwire');
const model = createRoutedModel();
const encapsulation = 'vxlan';
const pool = fillPool({ name: 'all', cidr: '10.0.0.0/12', encapsulation, borrowing: true });
/** Milliseconds until a newcomer is given up; far above the threshold, so that a miss is still measured. */
const patience = 30_000;

export async function measureNewcomers(options: NewcomerOptions): Promise<NewcomerFigures> {
  const { followers, newcomers, signal, progress } = options;
  const etcd = await startEtcd();
  const open = (): Promise<Store> => openStore(etcd.spec, { log: silentLog, clock: systemClock });
  const opened: { close(): Promise<void> }[] = [];
  try {
    const store = await open();
    opened.push(store);
    await store.put(keys.pool(pool.name), encodeObject(poolKind, pool), { signal });
    const seen: Follower[] = [];
    for (let number = 0; number < followers; number++) {
      seen.push(await follow(await open(), number, signal));
      opened.unshift(seen.at(-1)!);
    }
    const times: number[] = [];
    for (let number = 0; number < newcomers; number++) {
      times.push(await withDeadline(signal, patience, (either) => comeIn(store, number, seen, either)));
      progress(number + 1, newcomers);
    }
    return { followers, newcomers, median: quantile(times, 0.5), longest: Math.max(...times) };
  } finally {
    for (const one of opened) await one.close();
    await etcd.close();
  }
}

interface Follower {
  /** Resolves when a route to a block of the node is planned. */
  routesTo(node: string): Promise<void>;
  close(): Promise<void>;
}

async function follow(store: Store, number: number, signal: AbortSignal): Promise<Follower> {
  const cache = openClusterCache({ store, keys, log: silentLog });
  await orAborted(cache.synced, signal);
  const view = describeFollower(number);
  const waiting = new Map<string, () => void>();
  const hasRoutes = (name: string): boolean => {
    const node = cache.nodes.get(name)?.value;
    if (node === undefined) return false;
    const tunnel = { mac: node.tunnel!.mac, ipv4: node.tunnel!.ipv4! };
    const peer = { name, blocks: cache.blocksOf(name), ipv4: node.addresses.ipv4!, tunnel };
    return model.planPeer(view, peer).some(({ kind }) => kind === 'route');
  };
  const look = (): void => {
    for (const [name, found] of waiting) if (hasRoutes(name)) found();
  };
  cache.onChange(look);
  return {
    routesTo: (node) =>
      new Promise((resolve) => {
        waiting.set(node, () => {
          waiting.delete(node);
          resolve();
        });
        look();
      }),
    async close() {
      await cache.close();
      await store.close();
    },
  };
}

const describeFollower = (number: number): NodeView => ({
  name: `follower-${number}`,
  network: {
    name: network,
    model: 'routed',
    pools: [{ name: pool.name, cidr: pool.cidr, natOutgoing: true, encapsulation }],
  },
  ...{ blocks: [], mtu: 1450, ipv4: true, ipv6: false },
  underlay: { link: 'eth0', mtu: 1500, ipv4: `172.16.0.${number + 1}/12` },
  tunnel: { mac: '66:00:00:00:00:01', ipv4: '10.15.0.1' },
});

async function comeIn(
  store: Store,
  number: number,
  followers: readonly Follower[],
  signal: AbortSignal,
): Promise<number> {
  const name = `newcomer-${number}`;
  const known = Promise.all(followers.map((follower) => follower.routesTo(name)));
  let begin = 0;
  const register = async (): Promise<void> => {
    begin = performance.now();
    await writeNode(store, name, number, signal);
  };
  const node = await startBareNode({ name, store, keys, signal, register });
  try {
    await orAborted(known, signal);
    return performance.now() - begin;
  } finally {
    await node.close();
  }
}

async function writeNode(store: Store, name: string, number: number, signal: AbortSignal): Promise<void> {
  const node = {
    ...{ name, instance: name, version: '0.1.0', labels: {}, mtu: 1500, registeredAt: 0 },
    addresses: { ipv4: `172.17.0.${number + 1}/12` },
    tunnel: { mac: `66:00:00:00:01:${number.toString(16).padStart(2, '0')}`, ipv4: `10.14.0.${number + 1}` },
  };
  const presence = encodeObject(nodeLeaseKind, { node: name, instance: name, since: 0 });
  await store.transact(
    {
      conditions: [{ key: keys.nodeLease(name), expect: 'absent' }],
      writes: [
        { op: 'put', key: keys.nodeLease(name), value: presence },
        { op: 'put', key: keys.node(name), value: encodeObject(nodeKind, node) },
      ],
    },
    { signal },
  );
}
