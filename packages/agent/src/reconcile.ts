/** Making the node look like the records, at start and every while. */
import type { Change, Owned } from '@podwire/engine';
import { endpointKey } from '@podwire/network-contract';
import { describeError } from '@podwire/errors';
import { adoptHeld } from './endpoints/broken-records.js';
import { type EndpointContext, ownedBy } from './endpoints/context.js';
import { teardown } from './endpoints/teardown.js';
import type { AgentRecord } from './endpoints/registry.js';

export interface ReconcileReport {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly changes: readonly Change[];
  /** Keys of endpoints whose removal was finished, or whose namespace was gone. */
  readonly removed: readonly string[];
  /** What could not be done, in words. */
  readonly failures: readonly string[];
}

/**
 * Looks at the host again, removes what is to be removed, then adopts, repairs and prunes. The caller has the node alone.
 * Failures of single resources are in the report; what is wrong with the node's own part is also in `readiness`.
 * @throws PodwireError when it could not be done at all
 */
export async function reconcile(
  context: EndpointContext,
  signal: AbortSignal,
  elapsed: () => number,
): Promise<ReconcileReport> {
  const startedAt = context.clock();
  const begin = elapsed();
  context.node.rediscover();
  context.cluster?.prepareReconcile();
  const { removed, failures } = await removeDead(context, signal);
  context.faults.reach('reconcile:dead-removed');
  const doubled = adoptLeases(context);
  adoptHeld(context);
  const node = context.node.owned();
  const changes = await context.engine.reconcile(
    [node, ...(context.cluster?.peers.owned() ?? []), ...wantedEndpoints(context)],
    { signal, keepLeftovers: context.cluster?.peers.areKnown === false },
  );
  await followPeers(context, changes, signal);
  noteNode(context, node, changes);
  context.cluster?.followSoon();
  const failed = changes.filter(({ action }) => action === 'failed').map(describeFailure);
  return {
    startedAt,
    duration: elapsed() - begin,
    changes,
    removed,
    failures: [...failures, ...doubled, ...failed],
  };
}

/** Endpoints in transition have no claim any more: whatever is left of them is pruned. */
function wantedEndpoints({ endpoints }: EndpointContext): Owned[] {
  return endpoints
    .all()
    .filter(({ phase }) => phase === 'ready')
    .map(ownedBy);
}

/** Finishes interrupted ADDs (backwards) and DELs, and removes endpoints whose namespace is gone. */
async function removeDead(
  context: EndpointContext,
  signal: AbortSignal,
): Promise<{ removed: string[]; failures: string[] }> {
  const removed: string[] = [];
  const failures: string[] = [];
  for (const record of context.endpoints.all()) {
    const why = whyDead(context, record);
    if (why === undefined) continue;
    const endpoint = endpointKey(record.id);
    try {
      await teardown(context, record, { signal });
      removed.push(endpoint);
      context.log.info({ endpoint, why }, 'removed an endpoint');
    } catch (err) {
      failures.push(`${endpoint}: ${describeError(err)}`);
      context.log.error({ err, endpoint, why }, 'an endpoint could not be removed; it is tried again');
    }
  }
  return { removed, failures };
}

/**
 * Makes sure that IPAM knows every address that a record names: after a start it knows none. Where two records name one
 * address, the endpoint that is complete keeps it, or else the older one.
 */
function adoptLeases({ endpoints, networks, log }: EndpointContext): string[] {
  return endpoints
    .all()
    .toSorted(
      (a, b) => Number(a.phase !== 'ready') - Number(b.phase !== 'ready') || a.createdAt - b.createdAt,
    )
    .flatMap((record) => {
      const owner = endpointKey(record.id);
      // A network may have been taken out of the configuration. Its pods live on; nobody hands their addresses out.
      const ipam = networks.find(({ view }) => view.name === record.endpoint.network)?.ipam;
      return record.leases.flatMap(({ address, pool }) => {
        try {
          ipam?.adopt({ address, pool, owner, since: record.createdAt });
          return [];
        } catch (err) {
          log.error({ err, endpoint: owner, address }, 'an address is claimed twice');
          return [`${owner}: ${describeError(err)}`];
        }
      });
    });
}

function whyDead({ namespaces }: EndpointContext, { phase, namespace }: AgentRecord): string | undefined {
  if (phase === 'wiring') return 'its ADD was interrupted';
  if (phase === 'removing') return 'its removal was interrupted';
  return namespaces.isGone(namespace) ? `its network namespace ${namespace.path} is gone` : undefined;
}

/**
 * A node whose own part is not in order (its packet filter, say, which keeps pods from spoofing) gets no new pods, also when it was
 * in order before.
 */
function noteNode({ node, readiness }: EndpointContext, owned: Owned, changes: readonly Change[]): void {
  const failed = changes.filter(({ owner, action }) => owner === 'node' && action === 'failed');
  if (failed.length === 0) node.markApplied(owned);
  readiness.problem = failed.length === 0 ? undefined : failed.map(describeFailure).join('; ');
  readiness.ready = failed.length === 0;
}

/** Peers that have come since are applied before anything is said to be ready: a new pod finds all of them. */
async function followPeers(
  { cluster, engine }: EndpointContext,
  changes: readonly Change[],
  signal: AbortSignal,
): Promise<void> {
  if (cluster === undefined) return;
  const failed = changes.flatMap((change) =>
    change.action === 'failed' && change.owner !== undefined
      ? [[change.owner, describeFailure(change)] as const]
      : [],
  );
  cluster.peers.noteReconciled(new Map(failed));
  await cluster.peers.flush(engine, { signal });
}

function describeFailure({ owner, what, error }: Change): string {
  return `${owner ?? 'leftover'}: ${what}: ${describeError(error)}`;
}
