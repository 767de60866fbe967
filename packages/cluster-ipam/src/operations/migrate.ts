/** Moves a running cluster from one pool to another. Its state is in the store alone: it can be interrupted and done again. */
import { containsPrefix } from '@podwire/addresses';
import { type Pool, type Stored, type Workload, workloadKind } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import { type Condition, encodeObject, type Write } from '@podwire/store';
import { type ClusterAccess, retryOnConflict, roomOf } from './access.js';
import { invalid } from './pool-rules.js';
import { beginPoolChange, commitPoolChange, deletePool, putPool, requirePool, sameFamily } from './pools.js';
import { showPool } from './show.js';
import { blocksWithin, type ClusterSnapshot, recordsWithin, readCluster } from './snapshot.js';
import { compareCidrs, isNodesOwn, listSome, prefixFrom } from './text.js';
import { addressesWithin, nameOfWorkload, withoutAssignments } from './workload-rules.js';

export interface Migration {
  readonly from: string;
  readonly to: string;
  /** Pods that still have an address of `from`. Nodes are left out: their ends of tunnels move by themselves. */
  readonly pods: readonly MigratingPod[];
  /** Blocks that have not been given back. */
  readonly blocks: readonly MigratingBlock[];
  /** Nothing is left, and `from` is deleted. */
  readonly done: boolean;
}

export interface MigratingPod {
  readonly address: string;
  readonly pod?: string;
  readonly owner: string;
  readonly node: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

export interface MigratingBlock {
  readonly cidr: string;
  readonly node?: string;
  /** True while its node is in touch with the store: one that is not gives nothing back. */
  readonly present: boolean;
}

export interface MigrateOptions {
  /** Goes on until nothing is left, and deletes `from` then; called after each look. */
  readonly wait?: (migration: Migration) => void;
  /** Milliseconds between looks while it waits. */
  readonly pollEvery?: number;
}

/**
 * `from` is disabled: from then on pods that are made get addresses of other pools. Those that run keep theirs until they are made
 * again, so no address is ever in use twice; their nodes give blocks back that are empty.
 * @throws PodwireError POOL_UNKNOWN, POOL_INVALID, POOL_IN_USE when a workload names addresses of `from`
 */
export async function migratePool(
  access: ClusterAccess,
  from: string,
  to: string,
  { wait, pollEvery = 1_000 }: MigrateOptions,
  signal: AbortSignal,
): Promise<Migration> {
  await prepare(access, from, to, signal);
  for (;;) {
    const migration = describeMigration(await readCluster(access, signal), from, to);
    if (migration.blocks.length === 0 && migration.pods.length === 0) {
      await deletePool(access, from, {}, signal);
      return { ...migration, done: true };
    }
    if (wait === undefined) return migration;
    wait(migration);
    await access.clock.sleep(pollEvery, signal);
  }
}

async function prepare(access: ClusterAccess, from: string, to: string, signal: AbortSignal): Promise<void> {
  const step = (): Promise<{ isReady: boolean }> =>
    retryOnConflict(`the migration of pool ${from}`, () => prepareStep(access, from, to, signal));
  while (!(await step()).isReady);
}

/** Disables the pool and moves as many workloads as a transaction holds. @returns undefined when others were faster */
async function prepareStep(
  access: ClusterAccess,
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<{ isReady: boolean } | undefined> {
  const change = await beginPoolChange(access, signal);
  const source = requirePool(change.pools, from);
  const target = requirePool(change.pools, to);
  requireFit(change.snapshot, source.value, target.value);
  const workloads = planWorkloads(change.snapshot, source.value, target.value);
  if (source.value.disabled && workloads.length === 0) return { isReady: true };
  const now = workloads.slice(0, roomOf(access) - 3);
  const conditions: Condition[] = [
    { key: source.key, expect: source.revision },
    { key: target.key, expect: target.revision },
    ...now.map(({ condition }) => condition),
  ];
  const writes = [putPool(access, { ...source.value, disabled: true }), ...now.map(({ write }) => write)];
  const isDone = await commitPoolChange(access, change, { conditions, writes }, signal);
  return isDone ? { isReady: now.length === workloads.length } : undefined;
}

/** @throws PodwireError POOL_INVALID */
function requireFit(snapshot: ClusterSnapshot, from: Pool, to: Pool): void {
  const refuse = (why: string): never => {
    throw invalid(from.name, 'migrate', `pool ${to.name} cannot take its pods: ${why}`);
  };
  if (from.name === to.name) refuse('it is the same pool');
  if (from.network !== to.network) refuse(`it is of network ${to.network}, not ${from.network}`);
  if (!sameFamily(from.cidr, to.cidr)) refuse('it is of the other address family');
  if (to.disabled || to.deleting) refuse(to.deleting ? 'it is being deleted' : 'it is disabled');
  if (from.allocation !== to.allocation) refuse(`its allocation is ${to.allocation}, not ${from.allocation}`);
  const { inUse } = showPool(snapshot, from);
  const { free } = showPool(snapshot, to);
  if (BigInt(free) < BigInt(inUse)) refuse(`it has ${free} free addresses, and ${inUse} are in use`);
}

/** Workloads that name `from` name `to`; nothing of `from` is kept for pods that come back. */
function planWorkloads(
  { workloads }: ClusterSnapshot,
  from: Pool,
  to: Pool,
): { readonly condition: Condition; readonly write: Write }[] {
  const fixed = workloads.filter(({ value }) => addressesWithin(value, from).length > 0);
  if (fixed.length > 0) {
    const names = fixed.map(
      ({ value }) => `${nameOfWorkload(value)} (${listSome(addressesWithin(value, from))})`,
    );
    throw new PodwireError(
      'POOL_IN_USE',
      `pool ${from.name}: give these workloads addresses of pool ${to.name} first: ${listSome(names)}`,
      {
        details: { pool: from.name, workloads: names },
        action: `\`podwire workload set NAME --address ADDRESS\` does it for one.`,
      },
    );
  }
  return workloads.flatMap((stored) => {
    const rest = moveWorkload(stored.value, from, to);
    if (rest === stored.value) return [];
    return [{ condition: { key: stored.key, expect: stored.revision }, write: putWorkload(stored, rest) }];
  });
}

function moveWorkload(workload: Workload, from: Pool, to: Pool): Workload {
  const isGone = (address: string): boolean => containsPrefix(prefixFrom(from.cidr), prefixFrom(address));
  const names = workload.pools.includes(from.name);
  const keeps = Object.values(workload.assigned).flat().some(isGone);
  if (!names && !keeps) return workload;
  const pools = [...new Set(workload.pools.map((pool) => (pool === from.name ? to.name : pool)))];
  return { ...withoutAssignments(workload, isGone), pools };
}

const putWorkload = ({ key }: Stored<Workload>, value: Workload): Write => ({
  op: 'put',
  key,
  value: encodeObject(workloadKind, value),
});

/** The state of the migration away from `from`. Pure. @throws PodwireError POOL_UNKNOWN */
function describeMigration(snapshot: ClusterSnapshot, from: string, to: string): Migration {
  const { cidr } = requirePool(snapshot.pools, from).value;
  const pods = recordsWithin(snapshot, cidr).flatMap(({ value }) =>
    value.entries
      .filter((entry) => !isNodesOwn(entry))
      .map(({ address, pod, owner, since }): MigratingPod => ({
        address,
        ...compact({ pod }),
        owner,
        node: value.node,
        since,
      })),
  );
  const blocks = blocksWithin(snapshot, cidr).flatMap(
    ({ value: { cidr: block, node, loans } }): MigratingBlock[] => {
      if (node === undefined && loans.length === 0) return [];
      const holder = node ?? loans[0]?.node ?? '';
      return [{ cidr: block, ...compact({ node }), present: snapshot.nodeLeases.has(holder) }];
    },
  );
  pods.sort((a, b) => compareCidrs(a.address, b.address));
  return { from, to, pods, blocks, done: false };
}
