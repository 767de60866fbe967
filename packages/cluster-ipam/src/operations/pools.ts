/** Making, changing and deleting pools. */
import { type Pool, poolKind, type Stored } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { compact, withDeadline } from '@podwire/platform';
import { encodeObject, type Condition, type Transaction, type Write } from '@podwire/store';
import { type ClusterAccess, commit, deleteUnchanged, retryOnConflict } from './access.js';
import { commonEncapsulation } from './harm.js';
import { knownAddresses } from './known-addresses.js';
import { buildPool, invalid, patchPool, type PoolInput, type PoolPatch } from './pool-rules.js';
import { blocksWithin, type ClusterSnapshot, recordsWithin, readCluster } from './snapshot.js';
import { isNodesOwn, listSome, prefixFrom } from './text.js';
import { workloadsOf } from './workload-rules.js';

/**
 * @throws PodwireError POOL_INVALID, also when there is one of this name
 */
export async function createPool(
  access: ClusterAccess,
  input: PoolInput,
  signal: AbortSignal,
): Promise<Pool> {
  const [pool] = await createPools(access, [input], signal);
  return pool!;
}

/** Several at once, or none. @throws PodwireError POOL_INVALID, STORE_CONFLICT */
export async function createPools(
  access: ClusterAccess,
  inputs: readonly PoolInput[],
  signal: AbortSignal,
): Promise<Pool[]> {
  return retryOnConflict('new pools', async () => {
    const change = await beginPoolChange(access, signal);
    const pools: Pool[] = [];
    const known = knownAddresses(change.snapshot, access);
    for (const input of inputs) {
      if (change.pools.has(input.name)) throw invalid(input.name, 'name', 'there is a pool of this name');
      const others = [...poolValues(change.pools), ...pools];
      const encapsulation = input.encapsulation ?? commonEncapsulation(others, input);
      pools.push(buildPool({ ...input, ...compact({ encapsulation }) }, others, known));
    }
    const writes = pools.map((pool) => putPool(access, pool));
    const conditions = pools.map(({ name }): Condition => ({
      key: access.keys.pool(name),
      expect: 'absent',
    }));
    return (await commitPoolChange(access, change, { conditions, writes }, signal)) ? pools : undefined;
  });
}

/** @throws PodwireError POOL_UNKNOWN, POOL_INVALID, STORE_CONFLICT */
export async function updatePool(
  access: ClusterAccess,
  name: string,
  patch: PoolPatch,
  signal: AbortSignal,
): Promise<Pool> {
  return changePool(access, name, signal, (pool, all) => patchPool(pool, patch, all));
}

async function changePool(
  access: ClusterAccess,
  name: string,
  signal: AbortSignal,
  decide: (pool: Pool, all: readonly Pool[]) => Pool,
): Promise<Pool> {
  return retryOnConflict(`pool ${name}`, async () => {
    const change = await beginPoolChange(access, signal);
    const { key, value, revision } = requirePool(change.pools, name);
    const pool = decide(value, poolValues(change.pools));
    const transaction = { conditions: [{ key, expect: revision }], writes: [putPool(access, pool)] };
    return (await commitPoolChange(access, change, transaction, signal)) ? pool : undefined;
  });
}

export interface DeletePoolOptions {
  /** Goes on until nothing of it is in use any more, telling what is left. */
  readonly wait?: (left: PoolUse) => void;
  /** Milliseconds between looks while it waits. */
  readonly pollEvery?: number;
}

/** Use of a pool that keeps it from being deleted. */
export interface PoolUse {
  readonly nodes: readonly string[];
  readonly blocks: readonly string[];
  /** `default/web-1`, or the endpoint where there is no pod. */
  readonly pods: readonly string[];
}

/**
 * In two steps: first no node may claim a block of it any more (claims are conditional on the pool's revision), then it is checked whether
 * blocks are left. When there are, it is as before again.
 * @throws PodwireError POOL_UNKNOWN, POOL_IN_USE naming nodes and pods, STORE_CONFLICT
 */
export async function deletePool(
  access: ClusterAccess,
  name: string,
  options: DeletePoolOptions,
  signal: AbortSignal,
): Promise<void> {
  await markDeleting(access, name, signal);
  try {
    for (;;) {
      const left = await tryDelete(access, name, signal);
      if (left === undefined) return;
      if (options.wait === undefined) throw inUse(name, left);
      options.wait(left);
      await access.clock.sleep(options.pollEvery ?? 1_000, signal);
    }
  } catch (error) {
    // Also after an interruption: a pool that is half deleted for ever would be a riddle.
    await keepPool(access, name).catch(() => undefined);
    throw error;
  }
}

async function markDeleting(access: ClusterAccess, name: string, signal: AbortSignal): Promise<void> {
  await changePool(access, name, signal, (pool) => ({ ...pool, deleting: true }));
}

const keepDeadline = 5_000;

async function keepPool(access: ClusterAccess, name: string): Promise<void> {
  await withDeadline(undefined, keepDeadline, (signal) =>
    changePool(access, name, signal, (pool) => ({ ...pool, deleting: false })),
  );
}

/** @returns what is in the way; undefined when it is deleted */
async function tryDelete(
  access: ClusterAccess,
  name: string,
  signal: AbortSignal,
): Promise<PoolUse | undefined> {
  return (
    await retryOnConflict(`pool ${name}`, async () => {
      const change = await beginPoolChange(access, signal);
      const pool = change.pools.get(name);
      if (pool === undefined) return {};
      if (!pool.value.deleting) {
        // Another client has given it up meanwhile; without the mark a block could be claimed beside this.
        await markDeleting(access, name, signal);
        return undefined;
      }
      const left = usesOf(change.snapshot, pool.value);
      if (left.blocks.length > 0) return { left };
      requireNoWorkload(change.snapshot, pool.value);
      const empty = blocksWithin(change.snapshot, pool.value.cidr);
      if (empty.length > 0) {
        await deleteUnchanged(access, empty, signal);
        return undefined;
      }
      const transaction: Transaction = {
        conditions: [{ key: pool.key, expect: pool.revision }],
        writes: [{ op: 'delete', key: pool.key }],
      };
      return (await commitPoolChange(access, change, transaction, signal)) ? {} : undefined;
    })
  ).left;
}

/** Blocks with an owner or a borrower, with the pods that have addresses of them. */
export function usesOf(snapshot: ClusterSnapshot, pool: Pool): PoolUse {
  const blocks = blocksWithin(snapshot, pool.cidr).filter(
    ({ value }) => value.node !== undefined || value.loans.length > 0,
  );
  const entries = recordsWithin(snapshot, pool.cidr).flatMap(({ value }) => value.entries);
  const nodes = blocks.flatMap(({ value }) => [
    ...(value.node === undefined ? [] : [value.node]),
    ...value.loans.map(({ node }) => node),
  ]);
  return {
    nodes: [...new Set(nodes)].sort(),
    blocks: blocks.map(({ value }) => value.cidr),
    pods: entries
      .filter((entry) => !isNodesOwn(entry))
      .map(({ pod, owner }) => pod ?? owner)
      .sort(),
  };
}

function inUse(name: string, { nodes, blocks, pods }: PoolUse): PodwireError {
  const having = pods.length === 0 ? 'no pod has an address of them' : `in use by ${listSome(pods)}`;
  return new PodwireError(
    'POOL_IN_USE',
    `pool ${name}: nodes ${listSome(nodes)} have blocks of it (${listSome(blocks)}); ${having}`,
    {
      details: { pool: name, nodes, blocks, pods },
      action: `Move its pods to another pool (\`podwire ipam migrate ${name} POOL\`), or disable it and wait until they have ended.`,
    },
  );
}

function requireNoWorkload(snapshot: ClusterSnapshot, pool: Pool): void {
  const names = workloadsOf(snapshot, pool);
  if (names.length === 0) return;
  throw new PodwireError('POOL_IN_USE', `pool ${pool.name}: workloads name it: ${listSome(names)}`, {
    details: { pool: pool.name, workloads: names },
    action: 'Give them other pools or addresses first: `podwire workload set`.',
  });
}

/** Basis of the decision on a change of pools. */
export interface PoolChange {
  readonly snapshot: ClusterSnapshot;
  readonly pools: ClusterSnapshot['pools'];
  readonly generation: Condition;
}

/**
 * The generation is read first: a pool that is made after that changes it, and one made before is seen.
 */
export async function beginPoolChange(access: ClusterAccess, signal: AbortSignal): Promise<PoolChange> {
  const key = access.keys.poolsGeneration;
  const generation = await access.store.get(key, { signal });
  const snapshot = await readCluster(access, signal);
  return { snapshot, pools: snapshot.pools, generation: { key, expect: generation?.revision ?? 'absent' } };
}

export async function commitPoolChange(
  access: ClusterAccess,
  { generation }: PoolChange,
  { conditions, writes }: Transaction,
  signal: AbortSignal,
): Promise<boolean> {
  const mark: Write = { op: 'put', key: generation.key, value: String(access.clock.now()) };
  const transaction = { conditions: [generation, ...conditions], writes: [mark, ...writes] };
  return (await commit(access, transaction, signal)) !== undefined;
}

export function putPool({ keys }: ClusterAccess, pool: Pool): Write {
  return { op: 'put', key: keys.pool(pool.name), value: encodeObject(poolKind, pool) };
}

/** @throws PodwireError POOL_UNKNOWN */
export function requirePool(pools: ClusterSnapshot['pools'], name: string): Stored<Pool> {
  const pool = pools.get(name);
  if (pool !== undefined) return pool;
  const known = [...pools.keys()];
  const others = known.length === 0 ? 'there is none' : `there are ${listSome(known, 10)}`;
  throw new PodwireError('POOL_UNKNOWN', `no pool ${name}; ${others}`, { details: { pool: name } });
}

export function poolValues(pools: ClusterSnapshot['pools']): Pool[] {
  return [...pools.values()].map(({ value }) => value);
}

/** Reports if two prefixes, as text, have the same family. */
export function sameFamily(a: string, b: string): boolean {
  return prefixFrom(a).family === prefixFrom(b).family;
}
