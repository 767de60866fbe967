/**
 * Endpoints whose pods belong to something else than when they were planned: a project with another VNID, say. They are planned again
 * from their records; links, addresses and ports stay.
 */
import { endpointKey } from '@podwire/network-contract';
import { type Clock, groupBy, Workqueue } from '@podwire/platform';
import type { ClusterMember } from '../cluster/contract.js';
import { asPodwireError, describeWithCode } from '../errors.js';
import { type Network, networkOf } from '../networks.js';
import type { EndpointRecord } from '../records/record.js';
import type { EndpointContext } from './context.js';
import { hasMoved, replanEndpoint } from './plan-endpoint.js';
import { describeEndpoint } from './registry.js';

type FollowContext = Pick<
  EndpointContext,
  'networks' | 'node' | 'desired' | 'endpoints' | 'scopes' | 'records' | 'locks' | 'engine' | 'faults' | 'log'
>;

/** Milliseconds in which changes are gathered, and until a failure is tried again. */
const delay = 5;
const backoff = { first: 1_000, longest: 30_000 } as const;

/** Follows the objects until the result is stopped. Looks at all endpoints at once. */
export function followAttachments(
  context: FollowContext,
  cluster: Pick<ClusterMember, 'objects' | 'notePodsFollowed'>,
  clock: Clock,
): { stop(): Promise<void> } {
  const { objects } = cluster;
  /** Endpoints that have to move, or have failed to. */
  const pending = new Set<string>();
  const report = (): void => {
    if (pending.size === 0) cluster.notePodsFollowed(objects.revision);
  };
  const queue = new Workqueue<string>({
    async reconcile(key, signal) {
      await moveEndpoint(context, key, signal);
      pending.delete(key);
      report();
    },
    onError: (err, endpoint) =>
      context.log.error({ err, endpoint }, 'a pod could not follow what it belongs to; it is tried again'),
    ...{ clock, delay, backoff },
  });
  const warn = logChanges(context);
  const look = (): void => {
    const { moved, unresolved } = compareAttachments(context);
    for (const { id } of moved) {
      pending.add(endpointKey(id));
      queue.add(endpointKey(id));
    }
    report();
    warn(unresolved);
  };
  const unsubscribe = objects.onChange(look);
  look();
  return {
    async stop() {
      unsubscribe();
      await queue.stop();
    },
  };
}

/** Any object that changes is a reason to look, and the same words need no second line. */
function logChanges({ log }: Pick<FollowContext, 'log'>): (problems: readonly string[]) => void {
  let last: readonly string[] = [];
  return (problems) => {
    for (const problem of problems)
      if (!last.includes(problem)) log.warn({ problem }, 'pods stay in their project');
    last = problems;
  };
}

type Standing = Pick<FollowContext, 'networks' | 'endpoints' | 'desired'>;

interface Attachments {
  readonly moved: readonly EndpointRecord[];
  /** Pods of which it is not known any more what they belong to, in words that begin with a code. */
  readonly unresolved: readonly string[];
}

/**
 * Compares what pods belong to with what they were planned for. Where it is not known, everything that was planned stays. An endpoint
 * that is being wired has been planned with what was known then: it moves once its ADD lets go of it.
 */
function compareAttachments({ networks, endpoints, desired }: Standing): Attachments {
  const moved: EndpointRecord[] = [];
  const lost: { readonly pod: string; readonly reason: string }[] = [];
  for (const record of endpoints.all()) {
    const network = networkOf(networks, record);
    if (network === undefined || record.phase === 'removing') continue;
    try {
      if (hasMoved(record, network, desired.read)) moved.push(record);
    } catch (error) {
      lost.push({ pod: describeEndpoint(record), reason: describeWithCode(asPodwireError(error)) });
    }
  }
  return { moved, unresolved: describeLost(lost) };
}

/** For `status`. */
export const describeUnresolved = (context: Standing): readonly string[] =>
  compareAttachments(context).unresolved;

const describeLost = (lost: readonly { readonly pod: string; readonly reason: string }[]): string[] =>
  [...groupBy(lost, ({ reason }) => reason)].map(([reason, [first, ...more]]) => {
    const stay = more.length === 0 ? 'stays what it was' : `and ${more.length} more stay what they were`;
    return `${reason}; ${first!.pod} ${stay}`;
  });

async function moveEndpoint(context: FollowContext, key: string, signal: AbortSignal): Promise<void> {
  const { networks, endpoints, scopes, locks, engine } = context;
  await locks.withKey(key, signal, async () => {
    const record = endpoints.get(key);
    const network = record === undefined ? undefined : networkOf(networks, record);
    if (record?.phase !== 'ready' || network === undefined) return;
    // An attempt that has failed has written the record, and left the rest to this one.
    await scopes.apply(writeMoved(context, record, network), { signal, engine });
  });
}

/** The record as it has to be now. It is written first: an agent that is killed meanwhile finds there what has to be in the kernel. */
function writeMoved(
  { node, desired, endpoints, records, faults, log }: FollowContext,
  record: EndpointRecord,
  network: Network,
): EndpointRecord {
  if (!hasMoved(record, network, desired.read)) return record;
  const next = replanEndpoint(record, network, {
    view: () => node.view(network),
    isLinkTaken: (name) => ![undefined, record].includes(endpoints.ofLink(name)),
    read: desired.read,
  });
  records.write(next);
  endpoints.put(next);
  faults.reach('move:recorded');
  log.info(
    { pod: describeEndpoint(next), ...next.endpoint.attachment },
    'a pod is wired for what the cluster says of it now',
  );
  return next;
}
