/**
 * The burst's addresses alone: no plugin, no agent, no kernel. Nodes with blocks of their own give addresses and report them; beside it,
 * one compare-and-set for each address. All nodes in this process, each with a connection of its own to the same etcd; runs take turns.
 */
import { setMaxListeners } from 'node:events';
import { type Keys, keysBelow, poolKind } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { orAborted, silentLog, systemClock, withDeadline } from '@podwire/platform';
import { encodeObject, openStore, type Store } from '@podwire/store';
import { startEtcd } from '@podwire/testkit/etcd';
import { pairedRatio, quantile } from '../statistics.js';
import { type BareNode, fillPool, network, registerPresence, startBareNode } from './bare-node.js';
import { createEntryWriter } from './compare-and-set.js';

export interface AddressBurst {
  readonly nodes: number;
  /** Over all nodes. */
  readonly addresses: number;
  /** Addresses a second until every pod has one; the median of the rounds. */
  readonly owned: number;
  /** The same until the store knows them all. */
  readonly reported: number;
  readonly compareAndSet: number;
  /** `owned` by `compareAndSet`, and `reported` by it: medians over the rounds. */
  readonly ratio: number;
  readonly reportedRatio: number;
}

export interface AddressBurstOptions {
  readonly nodes: number;
  readonly addressesPerNode: number;
  readonly rounds: number;
  readonly signal: AbortSignal;
  readonly progress: (done: number, total: number) => void;
}

interface Round {
  readonly owned: number;
  readonly reported: number;
  readonly asking: number;
}

/** Blocks as people have them: a node that starts a hundred pods at once needs a second one in the middle. */
const pool = fillPool({ name: 'all', cidr: '10.62.0.0/16' });
const keys: Keys = keysBelow('/podwire');
/** Milliseconds that a round may take. */
const patience = 60_000;

export async function measureAddressBursts(options: AddressBurstOptions): Promise<AddressBurst> {
  const { nodes, addressesPerNode, rounds, signal, progress } = options;
  const etcd = await startEtcd();
  const stores: Store[] = [];
  try {
    for (let node = 0; node < nodes; node++)
      stores.push(await openStore(etcd.spec, { log: silentLog, clock: systemClock }));
    await stores[0]!.put(keys.pool(pool.name), encodeObject(poolKind, pool), { signal });
    const taken: Round[] = [];
    for (let round = 0; round <= rounds; round++) {
      taken.push(
        await withDeadline(signal, patience, (either) => measureRound(stores, round, options, either)),
      );
      progress(round + 1, rounds + 1);
    }
    // The first round warms up.
    return evaluate(nodes * addressesPerNode, nodes, taken.slice(1));
  } finally {
    for (const store of stores) await store.close();
    await etcd.close();
  }
}

async function measureRound(
  stores: readonly Store[],
  round: number,
  options: AddressBurstOptions,
  signal: AbortSignal,
): Promise<Round> {
  // Each pod that waits for an address is a listener.
  setMaxListeners(0, signal);
  if (round % 2 === 1) {
    const asking = await askForEach(stores, round, options, signal);
    return { ...(await takeOwned(stores, round, options, signal)), asking };
  }
  const own = await takeOwned(stores, round, options, signal);
  return { ...own, asking: await askForEach(stores, round, options, signal) };
}

/** Nodes that have just come, with one block each. @returns milliseconds */
async function takeOwned(
  stores: readonly Store[],
  round: number,
  { addressesPerNode }: AddressBurstOptions,
  signal: AbortSignal,
): Promise<{ readonly owned: number; readonly reported: number }> {
  const nodes: BareNode[] = [];
  try {
    for (const [number, store] of stores.entries()) {
      const name = `node-${round}-${number}`;
      nodes.push(await startBareNode({ name, store, keys, signal, register: registerPresence(keys, name) }));
    }
    const begin = performance.now();
    const pods = Array.from({ length: addressesPerNode }, (_, pod) => pod);
    await Promise.all(nodes.map((node) => Promise.all(pods.map((pod) => takeAddress(node, pod, signal)))));
    const owned = performance.now() - begin;
    await Promise.all(nodes.map((node) => orAborted(node.addressing.flush(signal), signal)));
    return { owned, reported: performance.now() - begin };
  } finally {
    for (const node of nodes) await node.close();
  }
}

/** The agent's way: in memory, and the slow way only when that fails. */
async function takeAddress(
  { name, addressing, ipam }: BareNode,
  pod: number,
  signal: AbortSignal,
): Promise<void> {
  const request = { owner: `${network},${name}-${pod},eth0`, families: [4] as const };
  for (;;) {
    try {
      for (const { address, owner, since } of ipam.allocate(request))
        addressing.noteUsed({ address, owner, since });
      return;
    } catch (error) {
      if (!(error instanceof PodwireError) || error.code !== 'POOL_EXHAUSTED') throw error;
    }
    await addressing.provide({ network, families: [4] }, signal);
  }
}

async function askForEach(
  stores: readonly Store[],
  round: number,
  { addressesPerNode }: AddressBurstOptions,
  signal: AbortSignal,
): Promise<number> {
  const writers = stores.map((store, number) => createEntryWriter(store, `node-${round}-${number}`));
  const pods = Array.from({ length: addressesPerNode }, (_, pod) => `bench/pod-${pod}`);
  const begin = performance.now();
  await Promise.all(writers.flatMap((writer) => pods.map((pod) => writer.write(pod, signal))));
  return performance.now() - begin;
}

function evaluate(addresses: number, nodes: number, rounds: readonly Round[]): AddressBurst {
  const rates = (pick: (round: Round) => number): number[] =>
    rounds.map((round) => (addresses * 1_000) / pick(round));
  const [owned, reported, asking] = [
    rates((round) => round.owned),
    rates((round) => round.reported),
    rates((round) => round.asking),
  ];
  return {
    ...{ nodes, addresses },
    owned: quantile(owned, 0.5),
    reported: quantile(reported, 0.5),
    compareAndSet: quantile(asking, 0.5),
    ratio: pairedRatio(owned, asking),
    reportedRatio: pairedRatio(reported, asking),
  };
}
