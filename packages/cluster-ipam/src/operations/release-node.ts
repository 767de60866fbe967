/** Everything that a node had goes back to the cluster, and the node itself. */
import {
  type UnreachableNode,
  type Block,
  blockKind,
  type Stored,
  type Workload,
  workloadKind,
} from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { type Condition, encodeObject, type Transaction, type Write } from '@podwire/store';
import { withoutOwner } from '../events.js';
import { type ClusterAccess, commit, retryOnConflict, roomOf } from './access.js';
import { type ClusterSnapshot, readCluster } from './snapshot.js';
import { withoutAssignments } from './workload-rules.js';

export interface ReleaseNodeOptions {
  /** The node must have been unreachable without a break since this was read. */
  readonly unreachable?: Stored<UnreachableNode>;
}

export interface ReleasedNode {
  readonly node: string;
  readonly blocks: readonly string[];
  /** Addresses of others' blocks that it had borrowed. */
  readonly loans: readonly string[];
  /** How many addresses its records had. */
  readonly addresses: number;
}

/**
 * In as many transactions as it takes, the node object last, so that it can be done again after an interruption. Each depends on the
 * node's absence and on what was seen of the block.
 * @throws PodwireError NODE_UNKNOWN when nothing in the store is the node's; NODE_ALIVE when it is there, or has come back
 */
export async function releaseNode(
  access: ClusterAccess,
  node: string,
  options: ReleaseNodeOptions,
  signal: AbortSignal,
): Promise<ReleasedNode> {
  const blocks = new Set<string>();
  const loans = new Set<string>();
  let addresses = 0;
  await retryOnConflict(`the release of node ${node}`, async () => {
    const snapshot = await readCluster(access, signal);
    const plan = planRelease(access, snapshot, node, await listPodFacts(access, node, signal));
    if (plan.isNothing && blocks.size + loans.size === 0) throw unknownNode(node);
    requireAbsent(snapshot, node, options);
    plan.blocks.forEach((cidr) => blocks.add(cidr));
    plan.loans.forEach((address) => loans.add(address));
    addresses = Math.max(addresses, plan.addresses);
    for (const transaction of inBatches(plan.steps, plan.conditions, roomOf(access))) {
      if ((await commit(access, transaction, signal)) === undefined) return undefined;
    }
    return true;
  });
  return { node, blocks: [...blocks], loans: [...loans], addresses };
}

function unknownNode(node: string): PodwireError {
  return new PodwireError('NODE_UNKNOWN', `no node ${node} is registered, and nothing is its own`, {
    details: { node },
  });
}

/** @throws PodwireError NODE_ALIVE */
function requireAbsent(
  { nodeLeases, unreachable }: ClusterSnapshot,
  node: string,
  { unreachable: seen }: ReleaseNodeOptions,
): void {
  const isBack = seen !== undefined && unreachable.get(node)?.revision !== seen.revision;
  if (!nodeLeases.has(node) && !isBack) return;
  const what = nodeLeases.has(node) ? 'is up' : 'was back since';
  throw new PodwireError('NODE_ALIVE', `node ${node} ${what}: nothing is taken from it`, {
    details: { node },
  });
}

interface ReleasePlan {
  /** Of every transaction. */
  readonly conditions: readonly Condition[];
  /** Each to be done whole; the last is the node itself. */
  readonly steps: readonly Transaction[];
  readonly isNothing: boolean;
  readonly blocks: readonly string[];
  readonly loans: readonly string[];
  readonly addresses: number;
}

/** Keys of what policy knows about the node's pods: their addresses may soon be others'. */
async function listPodFacts(
  { store, keys }: ClusterAccess,
  node: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { items } = await store.list(keys.podFactsOf(node), { signal });
  return items.map(({ key }) => key);
}

function planRelease(
  { keys }: ClusterAccess,
  snapshot: ClusterSnapshot,
  name: string,
  podFacts: readonly string[],
): ReleasePlan {
  const node = snapshot.nodes.get(name);
  const unreachable = snapshot.unreachable.get(name);
  const touched = [...snapshot.blocks.values()].filter(
    ({ value }) => value.node === name || value.loans.some((loan) => loan.node === name),
  );
  const allocationRecords = snapshot.allocationRecords.filter(({ value }) => value.node === name);
  const requests = snapshot.borrowRequests.filter(({ value }) => value.node === name);
  const steps = [
    ...touched.map((block) => planBlock(block, name)),
    ...planWorkloads(
      snapshot,
      new Set(allocationRecords.flatMap(({ value }) => value.entries.map((entry) => entry.address))),
    ),
    ...[...allocationRecords.map(({ key }) => key), ...requests.map(({ key }) => key), ...podFacts].map(
      (key): Transaction => ({
        conditions: [],
        writes: [{ op: 'delete', key }],
      }),
    ),
    planNode(keys.node(name), keys.unreachable(name)),
  ];
  return {
    conditions: [
      { key: keys.nodeLease(name), expect: 'absent' },
      { key: keys.node(name), expect: node?.revision ?? 'absent' },
      { key: keys.unreachable(name), expect: unreachable?.revision ?? 'absent' },
    ],
    steps,
    isNothing: steps.length === 1 && node === undefined && unreachable === undefined,
    blocks: touched.filter(({ value }) => value.node === name).map(({ value }) => value.cidr),
    loans: touched.flatMap(({ value }) =>
      value.loans.filter((loan) => loan.node === name).map(({ address }) => address),
    ),
    addresses: allocationRecords.reduce((sum, { value }) => sum + value.entries.length, 0),
  };
}

/** Addresses that other nodes borrow stay theirs; the block then has no owner. */
function planBlock({ key, value: block, revision }: Stored<Block>, node: string): Transaction {
  const loans = block.loans.filter((loan) => loan.node !== node);
  const keeps = block.node !== undefined && block.node !== node;
  const write: Write =
    keeps || loans.length > 0
      ? {
          op: 'put',
          key,
          value: encodeObject(blockKind, keeps ? { ...block, loans } : withoutOwner(block, loans)),
        }
      : { op: 'delete', key };
  return { conditions: [{ key, expect: revision }], writes: [write] };
}

/** Pods of a sticky workload get what they had on another node; for others nothing is kept. */
function planWorkloads({ workloads }: ClusterSnapshot, addresses: ReadonlySet<string>): Transaction[] {
  return workloads.flatMap(({ key, value, revision }: Stored<Workload>): Transaction[] => {
    const isTouched = Object.values(value.assigned)
      .flat()
      .some((address) => addresses.has(address));
    if (value.sticky || !isTouched) return [];
    const rest = withoutAssignments(value, (address) => addresses.has(address));
    const write: Write = { op: 'put', key, value: encodeObject(workloadKind, rest) };
    return [{ conditions: [{ key, expect: revision }], writes: [write] }];
  });
}

const planNode = (node: string, absence: string): Transaction => ({
  conditions: [],
  writes: [
    { op: 'delete', key: node },
    { op: 'delete', key: absence },
  ],
});

/** Steps put together as far as a transaction can hold them. */
function inBatches(steps: readonly Transaction[], common: readonly Condition[], room: number): Transaction[] {
  const batches: { conditions: Condition[]; writes: Write[] }[] = [];
  for (const { conditions, writes } of steps) {
    const last = batches.at(-1);
    const fits =
      last !== undefined &&
      last.conditions.length + conditions.length <= room &&
      last.writes.length + writes.length <= room;
    if (fits) {
      last.conditions.push(...conditions);
      last.writes.push(...writes);
    } else batches.push({ conditions: [...common, ...conditions], writes: [...writes] });
  }
  return batches;
}
