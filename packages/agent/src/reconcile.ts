/** Makes the node look like the records, at the start and in intervals. */
import { setImmediate } from 'node:timers/promises';
import type { Change, Reconcile } from '@podwire/engine';
import { endpointKey } from '@podwire/network-contract';
import { compact } from '@podwire/platform';
import { describeWithCode } from './errors.js';
import { networkOf } from './networks.js';
import { adoptHeld } from './endpoints/broken-records.js';
import { besideNode } from './node/scope-kinds.js';
import { listWanted } from './wanted.js';
import { type EndpointContext, ownedBy, type ServingState } from './endpoints/context.js';
import { endpointOfOwner } from './endpoints/owners.js';
import { teardown, type TeardownContext } from './endpoints/teardown.js';
import { describeEndpoint, type EndpointRegistry, podName } from './endpoints/registry.js';
import type { Namespaces } from './node/namespaces.js';
import type { Readiness } from './readiness.js';
import type { EndpointRecord } from './records/record.js';

/** A change of the engine, with the pod that it concerned. */
export interface ReconciledChange extends Change {
  /** `namespace/name`; absent for the node, for peers, for what has no owner, and outside Kubernetes. */
  readonly pod?: string;
}

export interface ReconcileReport {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly changes: readonly ReconciledChange[];
  /** Keys of endpoints whose removal was finished, or whose namespace was gone. */
  readonly removed: readonly string[];
  /** The same endpoints, with their pods as far as they have one. */
  readonly removedEndpoints: readonly RemovedEndpoint[];
  /** Failures, in words; a coded error with its code. */
  readonly failures: readonly string[];
}

export interface RemovedEndpoint {
  readonly key: string;
  readonly pod?: string;
}

export interface ReconcileCall {
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
  /** The caller holds the node for it alone. Otherwise requests are served meanwhile. */
  readonly alone: boolean;
}

export type ReconcileContext = TeardownContext &
  ServingState &
  Pick<EndpointContext, 'node' | 'desired' | 'broken' | 'locks' | 'namespaces' | 'clock' | 'log'>;

/**
 * Looks at the host again, removes what is to be removed, then adopts, repairs and prunes. Failures of single resources
 * are in the report; what is wrong with the node's own part is also in `readiness`. Two reconciles never run side by
 * side. docs/decisions/0028 says why requests need not wait for it.
 * @throws PodwireError when it could not be done at all
 */
export async function reconcile(context: ReconcileContext, call: ReconcileCall): Promise<ReconcileReport> {
  const { cluster, engine, node, policy } = context;
  const startedAt = context.clock();
  const begin = call.elapsed();
  await node.rediscoverInSteps();
  cluster?.prepareReconcile();
  policy?.refreshNode();
  const { removed, failures } = await removeDead(context, call);
  context.faults.reach('reconcile:dead-removed');
  const doubled = await adoptLeases(context);
  adoptHeld(context);
  // Beside requests, what an ADD makes and a DEL removes stays, too; alone, endpoints in transition have no claim any more.
  const isWanted = ({ phase }: EndpointRecord): boolean => !call.alone || phase === 'ready';
  const round = engine.startReconcile(() => listWanted(context, isWanted));
  const host = await repairHost(context, round, call);
  const endpoints = await repairEndpoints(context, round, { ...call, thorough: host.own.length > 0 });
  const policies = (await policy?.repair(call.signal)) ?? [];
  // Resources of policy that an earlier life has left stand until the wanted ones are known.
  const keepLeftovers = cluster?.peers.areKnown === false || policy?.state.isApplied === false;
  const pruned = await round.finish({ signal: call.signal, keepLeftovers });
  noteNode(context.readiness, host.own);
  cluster?.followSoon();
  const changes = namePods(context.endpoints, [
    ...host.own,
    ...host.others,
    ...endpoints,
    ...policies,
    ...pruned,
  ]);
  const failed = changes.filter(isFailed).map(describeFailure);
  return {
    startedAt,
    duration: call.elapsed() - begin,
    changes,
    removed: removed.map(({ key }) => key),
    removedEndpoints: removed,
    failures: [...failures, ...doubled, ...failed],
  };
}

/** Owners are keys with the id of a container; people know pods. */
function namePods(endpoints: EndpointRegistry, changes: readonly Change[]): ReconciledChange[] {
  return changes.map((change) => {
    const record = endpoints.get(endpointOfOwner(change.owner ?? '') ?? '');
    const pod = record === undefined ? undefined : podName(record);
    return pod === undefined ? change : { ...change, pod };
  });
}

interface HostChanges {
  readonly own: readonly Change[];
  /** Of peers, and of what else is planned beside the node's own part. */
  readonly others: readonly Change[];
}

/** Everything that is planned for the node. Nothing else changes it meanwhile. */
function repairHost(
  context: Pick<EndpointContext, 'node' | 'desired' | 'cluster' | 'engine' | 'readiness'>,
  round: Reconcile,
  { signal }: ReconcileCall,
): Promise<HostChanges> {
  const { node, desired, readiness } = context;
  return node.exclusively(signal, async () => {
    let own: readonly Change[] = [];
    await node.repair(async (owned) => {
      own = await round.repair([owned], { signal });
      return !own.some(isFailed);
    });
    noteObstacle(readiness, own);
    await desired.plan(signal);
    const others = await round.repair(desired.owned(besideNode), { signal });
    desired.noteReconciled(describeFailures(others), besideNode);
    await followOthers(context, signal);
    return { own, others };
  });
}

/**
 * One after the other, each with its own lock. An endpoint that a request is working on is left to the request; but not
 * after a repair of the node, which may have cost the endpoint what the request had made already.
 */
async function repairEndpoints(
  context: Pick<EndpointContext, 'endpoints' | 'locks'>,
  round: Reconcile,
  call: ReconcileCall & { readonly thorough: boolean },
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const { id } of context.endpoints.all()) {
    await hold(context, endpointKey(id), call, async (record) => {
      if (record.phase !== 'ready') return;
      changes.push(...(await round.repair([ownedBy(record)], { signal: call.signal })));
    });
  }
  return changes;
}

/**
 * Works on the endpoint as it is now, with its lock. The reconcile holds one lock at a time, and waits for none while it
 * holds one.
 */
async function hold(
  { locks, endpoints }: Pick<EndpointContext, 'endpoints' | 'locks'>,
  key: string,
  { alone, signal, thorough = false }: ReconcileCall & { readonly thorough?: boolean },
  work: (record: EndpointRecord) => Promise<void>,
): Promise<void> {
  const workIfThere = async (): Promise<void> => {
    const record = endpoints.get(key);
    if (record !== undefined) await work(record);
  };
  if (alone) await workIfThere();
  else if (thorough) await locks.withKey(key, signal, workIfThere);
  else await locks.tryWithKey(key, workIfThere);
}

/** Looked at in some milliseconds; then requests get their turn. */
const RECORDS_AT_ONCE = 64;

/** Finishes interrupted ADDs (backwards) and DELs, and removes endpoints whose namespace is gone. */
async function removeDead(
  context: TeardownContext & Pick<EndpointContext, 'locks' | 'namespaces' | 'log'>,
  call: ReconcileCall,
): Promise<{ removed: RemovedEndpoint[]; failures: string[] }> {
  const removed: RemovedEndpoint[] = [];
  const failures: string[] = [];
  for (const [index, record] of context.endpoints.all().entries()) {
    if (index % RECORDS_AT_ONCE === 0) await setImmediate();
    if (whyDead(context.namespaces, record) === undefined) continue;
    const endpoint = endpointKey(record.id);
    await hold(context, endpoint, call, async (current) => {
      const why = whyDead(context.namespaces, current);
      if (why === undefined) return;
      const pod = podName(current);
      try {
        await teardown(context, current, call);
        removed.push({ key: endpoint, ...compact({ pod }) });
        context.log.info({ endpoint, pod, why }, 'removed an endpoint');
      } catch (err) {
        failures.push(`${describeEndpoint(current)}: ${describeWithCode(err)}`);
        context.log.error({ err, endpoint, pod, why }, 'an endpoint could not be removed; it is tried again');
      }
    });
  }
  return { removed, failures };
}

/**
 * Makes sure that IPAM knows every address that a record names: after a start it knows none. Where two records name one
 * address, the endpoint that is complete keeps it, or else the older one. No lock is needed: records and addresses
 * change together, in one tick.
 */
async function adoptLeases(
  context: Pick<EndpointContext, 'networks' | 'endpoints' | 'log'>,
): Promise<string[]> {
  const { endpoints } = context;
  const failures: string[] = [];
  const records = endpoints
    .all()
    .toSorted(
      (a, b) => Number(a.phase !== 'ready') - Number(b.phase !== 'ready') || a.createdAt - b.createdAt,
    );
  for (const [index, record] of records.entries()) {
    if (index % RECORDS_AT_ONCE === RECORDS_AT_ONCE - 1) await setImmediate();
    const isCurrent = endpoints.get(endpointKey(record.id)) === record;
    if (isCurrent) failures.push(...adoptLeasesOf(context, record));
  }
  return failures;
}

function adoptLeasesOf(
  { networks, log }: Pick<EndpointContext, 'networks' | 'log'>,
  record: EndpointRecord,
): string[] {
  const owner = endpointKey(record.id);
  // A network may have been taken out of the configuration. Its pods live on; its addresses are not allocated any more.
  const network = networkOf(networks, record);
  // Two virtual networks may have the same addresses.
  const ipam = network?.model.assigned === undefined ? network?.ipam : undefined;
  return record.leases.flatMap(({ address, pool }) => {
    try {
      ipam?.adopt({ address, pool, owner, since: record.createdAt });
      return [];
    } catch (err) {
      log.error({ err, endpoint: owner, pod: podName(record), address }, 'an address is claimed twice');
      return [`${describeEndpoint(record)}: ${describeWithCode(err)}`];
    }
  });
}

function whyDead(namespaces: Namespaces, { phase, namespace }: EndpointRecord): string | undefined {
  if (phase === 'wiring') return 'its ADD was interrupted';
  if (phase === 'removing') return 'its removal was interrupted';
  return namespaces.isGone(namespace) ? `its network namespace ${namespace.path} is gone` : undefined;
}

/**
 * A node whose own part is not in order (its packet filter, say, which keeps pods from spoofing) gets no new pods, also when it was
 * in order before.
 */
function noteObstacle(readiness: Readiness, own: readonly Change[]): void {
  const failed = own.filter(isFailed);
  if (failed.length === 0) return;
  readiness.problem = failed.map(describeFailure).join('; ');
  readiness.ready = false;
}

function noteNode(readiness: Readiness, own: readonly Change[]): void {
  if (own.some(isFailed)) return;
  readiness.problem = undefined;
  readiness.ready = true;
}

const isFailed = ({ action }: Change): boolean => action === 'failed';

const describeFailures = (changes: readonly Change[]): Map<string, string> =>
  new Map(
    changes.flatMap((change) =>
      isFailed(change) && change.owner !== undefined ? [[change.owner, describeFailure(change)]] : [],
    ),
  );

/** Peers that have come since are applied before anything is said to be ready: a new pod finds all of them. */
async function followOthers(
  { cluster, desired, engine }: Pick<EndpointContext, 'cluster' | 'desired' | 'engine'>,
  signal: AbortSignal,
): Promise<void> {
  if (cluster === undefined) await desired.follow({ engine, signal }, besideNode);
  else await cluster.peers.flush(engine, { signal });
}

function describeFailure({ owner, pod, what, error }: ReconciledChange): string {
  return `${pod === undefined ? (owner ?? 'leftover') : `pod ${pod}`}: ${what}: ${describeWithCode(error)}`;
}
