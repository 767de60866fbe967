/** Waits until objects are in force: on every node of a cluster, or on this node where it is alone. */
import type { NodeLease, PolicyStatus } from '@podwire/cluster-state';
import type { ObjectReference, Revision } from '@podwire/objects';
import { type Clock, Notify, systemClock } from '@podwire/platform';
import type { Item, ObjectKind, Store } from '@podwire/store';
import type { Command } from 'commander';
import { openLocatedApi } from '../api/locate.js';
import type { Io } from '../io.js';
import type { Objects } from './place.js';
import { settleSdn } from './settle-sdn.js';

export interface InForce {
  /** Every node that enforces policy has the revision. */
  readonly complete: boolean;
  /** Nodes that have not said so in time. */
  readonly waiting: readonly string[];
  /** Nodes without a lease: their agent is dead, and is not waited for. */
  readonly dead: readonly string[];
  /** Nodes whose policy is switched off: they enforce nothing, and are not waited for. */
  readonly off: readonly string[];
  /** Objects that the controller has not answered in time: `NetNamespace shop`. */
  readonly unanswered?: readonly string[];
  /** Problems that nodes report of objects that are not in force as they are written. */
  readonly problems: readonly { readonly node?: string; readonly object: string; readonly message: string }[];
}

/** A change that is waited for. */
export interface AwaitedChange {
  readonly revision: Revision;
  /** Those that were applied; the controller may have to answer them first. */
  readonly objects: readonly ObjectReference[];
}

export interface WaitOptions extends AwaitedChange {
  readonly milliseconds: number;
  readonly signal: AbortSignal;
}

/** Milliseconds between two looks at the nodes; statuses are watched. */
const nodePause = 500;
/** Between two questions to an agent that is alone. */
const agentPause = 20;

export async function waitUntilInForce(
  command: Command,
  io: Io,
  { cluster, source }: Objects,
  options: WaitOptions,
): Promise<InForce> {
  const clock = io.cluster?.clock ?? systemClock;
  if (cluster === undefined) return askAgent(command, io, clock, options);
  const start = clock.elapsed();
  const settled = await settleSdn(source, options.objects, { ...options, clock });
  const milliseconds = Math.max(0, options.milliseconds - (clock.elapsed() - start));
  const found = await watchNodes(cluster, clock, { ...options, milliseconds, followed: settled.revision });
  return settled.waiting.length === 0 ? found : { ...found, complete: false, unanswered: settled.waiting };
}

interface NodesState {
  readonly nodes: readonly string[];
  readonly alive: ReadonlySet<string>;
}

async function watchNodes(
  { store, root }: { readonly store: Store; readonly root: string },
  clock: Clock,
  { revision, followed, milliseconds, signal }: WaitOptions & { readonly followed: Revision },
): Promise<InForce> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const statuses = new Map<string, PolicyStatus>();
  const change = new Notify();
  let failure: unknown;
  const following = followStatuses(store, root, statuses, change.notify, either).catch((error: unknown) => {
    failure = error;
    change.notify();
  });
  const end = clock.elapsed() + milliseconds;
  try {
    // The first snapshot of the statuses; without it every node would seem to be behind.
    await change.notifiedWithin(milliseconds, clock, signal);
    for (;;) {
      if (failure !== undefined) throw failure as Error;
      const result = compare(await readNodes(store, root, either), statuses, { revision, followed });
      signal.throwIfAborted();
      const left = end - clock.elapsed();
      if (result.waiting.length === 0 || left <= 0) return result;
      await change.notifiedWithin(Math.min(left, nodePause), clock, signal);
    }
  } finally {
    stop.abort();
    await following;
  }
}

function compare(
  { nodes, alive }: NodesState,
  statuses: ReadonlyMap<string, PolicyStatus>,
  { revision, followed }: { readonly revision: Revision; readonly followed: Revision },
): InForce {
  const isOff = (node: string): boolean => statuses.get(node)?.isOff === true;
  const isBehind = (node: string): boolean =>
    (!isOff(node) && (statuses.get(node)?.revision ?? -1) < revision) ||
    // Of objects that network models read; other nodes have none.
    (statuses.get(node)?.objects ?? Infinity) < followed;
  const off = nodes.filter(isOff);
  const behind = nodes.filter(isBehind);
  const waiting = behind.filter((node) => alive.has(node));
  const dead = behind.filter((node) => !alive.has(node));
  const problems = nodes.flatMap((node) =>
    (statuses.get(node)?.problems ?? []).map((problem) => ({ node, ...problem })),
  );
  return { complete: behind.length === 0, waiting, dead, off, problems };
}

async function readNodes(store: Store, root: string, signal: AbortSignal): Promise<NodesState> {
  const { folders, nodeKind, nodeLeaseKind } = await import('@podwire/cluster-state');
  const [nodes, leases] = await Promise.all([
    store.list(`${root}/${folders.nodes}`, { signal }),
    store.list(`${root}/${folders.nodeLeases}`, { signal }),
  ]);
  const known = await Promise.all(nodes.items.map((item) => tryDecode(nodeKind, item)));
  const present: readonly (NodeLease | undefined)[] = await Promise.all(
    leases.items.map((item) => tryDecode(nodeLeaseKind, item)),
  );
  return {
    nodes: known.flatMap((node) => node?.name ?? []),
    alive: new Set(present.flatMap((lease) => lease?.node ?? [])),
  };
}

async function followStatuses(
  store: Store,
  root: string,
  statuses: Map<string, PolicyStatus>,
  wake: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { folders, policyStatusKind } = await import('@podwire/cluster-state');
  const prefix = `${root}/${folders.policyStatus}`;
  const put = async (item: Item): Promise<void> => {
    const status = await tryDecode(policyStatusKind, item);
    if (status !== undefined) statuses.set(item.key.slice(prefix.length), status);
  };
  try {
    for await (const batch of store.watch(prefix, { signal })) {
      if (batch.type === 'snapshot') statuses.clear();
      for (const item of batch.type === 'snapshot' ? batch.items : []) await put(item);
      for (const each of batch.type === 'changes' ? batch.changes : [])
        if (each.type === 'put') await put(each.item);
        else statuses.delete(each.key.slice(prefix.length));
      wake();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** An item that cannot be read counts as absent: its node is waited for. */
async function tryDecode<T>(kind: ObjectKind<T>, { key, value }: Item): Promise<T | undefined> {
  const { decodeObject } = await import('@podwire/store');
  try {
    return decodeObject(kind, key, value);
  } catch {
    return undefined;
  }
}

/** As `GET /v1/policy` answers, as far as it is needed. */
interface PolicyState {
  /** Null before anything is in force. */
  readonly revision: Revision | null;
  readonly problems?: readonly { readonly object: string; readonly message: string }[];
}

/** @throws PodwireError AGENT_UNREACHABLE */
async function askAgent(
  command: Command,
  io: Io,
  clock: Clock,
  { revision, milliseconds, signal }: WaitOptions,
): Promise<InForce> {
  const api = await openLocatedApi(command, io, { timeout: milliseconds, signal });
  const end = clock.elapsed() + milliseconds;
  for (;;) {
    const { revision: known, problems = [] } = await api.get<PolicyState>('/v1/policy');
    const isBehind = (known ?? -1) < revision;
    if (!isBehind || clock.elapsed() >= end)
      return { complete: !isBehind, waiting: isBehind ? ['this node'] : [], dead: [], off: [], problems };
    await clock.sleep(agentPause, signal);
  }
}

/** Lines for a person; empty when everything is as it should be. */
export function describeInForce(inForce: InForce): readonly string[] {
  const { waiting, dead, off, unanswered = [], problems } = inForce;
  return [
    ...unanswered.map(
      (object) => `the controller has not answered ${object} in time; podwire status says why`,
    ),
    ...waiting.map((node) => `${node} has not said in time that it is in force there`),
    ...dead.map((node) => `${node} has no living agent: there the rules stand as they were`),
    ...off.map(
      (node) => `${node} has policy switched off (policy.enabled: false): nothing is enforced there`,
    ),
    ...problems.map(
      ({ node, object, message }) => `${node === undefined ? '' : `${node}: `}${object}: ${message}`,
    ),
  ];
}
