/** The node's side of the addresses as an agent has it, and nothing else of an agent: no kernel, no pods, no peers. */
import {
  type ClusterCache,
  completePool,
  type Keys,
  openClusterCache,
  type Pool,
  type PoolPart,
  nodeLeaseKind,
} from '@podwire/cluster-state';
import { createNodeAddressing, type SavedState, type NodeAddressing } from '@podwire/cluster-ipam';
import { createIpam, type Ipam } from '@podwire/ipam';
import { noFaults, orAborted, silentLog, systemClock } from '@podwire/platform';
import { encodeObject, type Store } from '@podwire/store';

export const network = 'default';

/** Neither tunnels nor borrowing where nothing is said: what is measured is the rest. */
export const fillPool = (pool: PoolPart): Pool =>
  completePool({ network, encapsulation: 'direct', borrowing: false, ...pool });

export interface BareNode {
  readonly name: string;
  readonly cache: ClusterCache;
  readonly addressing: NodeAddressing;
  readonly ipam: Ipam;
  close(): Promise<void>;
}

export interface BareNodeOptions {
  readonly name: string;
  readonly store: Store;
  readonly keys: Keys;
  readonly signal: AbortSignal;
  /** Between the first cache of the cluster and the first claim: registers the node. */
  readonly register: (store: Store) => Promise<void>;
  /** Milliseconds between two reports. */
  readonly reportEvery?: number;
}

/** Resolves when the node has a block. */
export async function startBareNode(options: BareNodeOptions): Promise<BareNode> {
  const { name, store, keys, signal } = options;
  const cache = openClusterCache({ store, keys, log: silentLog });
  await orAborted(cache.synced, signal);
  let file: SavedState | undefined;
  const addressing = createNodeAddressing({
    node: name,
    instance: name,
    labels: {},
    store,
    keys,
    cache,
    savedState: { read: () => file, write: (next) => void (file = next) },
    clock: systemClock,
    random: (bytes) => new Uint8Array(bytes),
    faults: noFaults,
    log: silentLog,
    fenceAfter: 86_400_000,
    reportEvery: options.reportEvery ?? 1_000,
  });
  const ipam = createIpam({
    pools: addressing.pools(network),
    coolDown: 0,
    clock: () => Date.now(),
    blockSource: addressing.source(network),
  });
  // Without it nothing is claimed: a node has blocks for the networks that it serves.
  addressing.attach(network, ipam);
  await options.register(store);
  await addressing.start([], signal);
  ipam.setPools(addressing.pools(network));
  const close = async (): Promise<void> => {
    await addressing.stop();
    await cache.close();
  };
  return { name, cache, addressing, ipam, close };
}

export const registerPresence =
  (keys: Keys, name: string) =>
  async (store: Store): Promise<void> => {
    const presence = { node: name, instance: name, since: 0 };
    await store.put(keys.nodeLease(name), encodeObject(nodeLeaseKind, presence));
  };
