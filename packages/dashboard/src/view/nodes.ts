/** Rows of nodes: what their agents say, joined with what the store says. Pure. */
import type { NodeShown } from '@podwire/cluster-ipam/operations';
import type { NodeAnswers, StatusAnswer } from '../answers.js';
import type { AddTimes, LeaseView, Level, NodeRow } from '../shapes.js';

export function viewNodes(
  answers: readonly NodeAnswers[],
  stored: readonly NodeShown[] | undefined,
): NodeRow[] {
  const byName = new Map(stored?.map((node) => [node.name, node]));
  const asked = answers.map((each) => viewNode(each, byName.get(each.name)));
  const names = new Set(asked.map(({ name }) => name));
  const others = (stored ?? []).filter(({ name }) => !names.has(name)).map(viewUnasked);
  return [...asked, ...others].toSorted((a, b) => compareNames(a.name, b.name));
}

function viewNode(answers: NodeAnswers, stored: NodeShown | undefined): NodeRow {
  const { name, status, failure, traces, endpoints } = answers;
  const facts = storedFacts(stored);
  if (status === undefined) {
    const row = { level: 'bad' as const, state: 'no answer', reasons: [failure], lease: storedLease(stored) };
    return { ...emptyNode(name), ...facts, ...row };
  }
  const { version, startedAt, memory, networks, endpoints: count, lastReconcile } = status;
  const reasons = reasonsOf(status);
  return {
    ...emptyNode(name),
    ...facts,
    level: !status.ready ? 'bad' : reasons.length > 0 ? 'busy' : 'good',
    state: status.ready ? 'ready' : 'not ready',
    reasons,
    version,
    startedAt: Date.parse(startedAt),
    memory: memory.rss,
    ...(facts.addresses.length === 0 ? { addresses: underlayOf(status) } : {}),
    networks: networks.map((network) => `${network.name} (${network.model})`),
    endpoints: { ready: count.ready, busy: count.wiring + count.removing },
    lease: leaseOf(status, stored),
    ...countBlocks(status, stored),
    addressesInUse: endpoints.reduce((sum, { addresses }) => sum + addresses.length, 0),
    reconcile: lastReconcile && {
      at: lastReconcile.startedAt,
      changes: lastReconcile.changes.length + lastReconcile.removed.length,
      failures: lastReconcile.failures.length,
    },
    adds: measureAdds(traces),
  };
}

/** A node that this page cannot ask: all there is to say is in the store. */
const viewUnasked = (stored: NodeShown): NodeRow => ({
  ...emptyNode(stored.name),
  ...storedFacts(stored),
  level: levelOf(stored.state),
  state: stored.state,
  lease: storedLease(stored),
});

const emptyNode = (name: string): NodeRow => ({
  ...{ name, level: 'unknown', state: 'unknown', reasons: [], version: null, startedAt: null, memory: null },
  ...{ addresses: [], networks: [], endpoints: { ready: 0, busy: 0 }, lease: null, blocks: 0, borrowed: 0 },
  ...{ addressesInUse: 0, reconcile: null, adds: null },
});

function storedFacts(stored: NodeShown | undefined) {
  if (stored === undefined) return { addresses: [] as string[] };
  const { version, addresses, blocks, borrowed, inUse } = stored;
  return {
    version: version ?? null,
    addresses: [addresses.ipv4, addresses.ipv6].filter((each) => each !== undefined),
    blocks: blocks.length,
    borrowed: borrowed.length,
    addressesInUse: inUse,
  };
}

function reasonsOf({
  problem,
  problems = [],
  recordProblems,
  cluster,
  lastReconcile,
}: StatusAnswer): string[] {
  const all = [
    ...(problem === null ? [] : [problem]),
    ...problems,
    ...recordProblems,
    ...(cluster?.problems ?? []),
    ...(lastReconcile?.failures ?? []),
  ];
  return [...new Set(all)].slice(0, 20);
}

function underlayOf({ cluster }: StatusAnswer): string[] {
  const { ipv4, ipv6 } = (cluster?.underlay ?? {}) as { readonly ipv4?: string; readonly ipv6?: string };
  return [ipv4, ipv6].filter((each) => each !== undefined);
}

function countBlocks({ cluster, networks }: StatusAnswer, stored: NodeShown | undefined) {
  if (stored !== undefined) return {};
  const held = cluster?.holdings.map(({ cidr }) => cidr) ?? networks.flatMap(({ blocks }) => blocks);
  // A borrowed address is a prefix of full length.
  const borrowed = held.filter((cidr) => /\/(?:32|128)$/.test(cidr)).length;
  return { blocks: held.length - borrowed, borrowed };
}

function leaseOf({ cluster }: StatusAnswer, stored: NodeShown | undefined): LeaseView | null {
  if (cluster === null || cluster === undefined) return null;
  const { standing, fenced, confirmedAt, store, controller } = cluster;
  const known = storedLease(stored);
  const isWell = standing === 'registered' && store.connected && !fenced;
  const own = fenced ? 'fenced' : !store.connected ? 'store away' : standing;
  // The others know first that a node is unreachable; it is told only that the store is away.
  const isKnown = known !== null && (isWell || known.state === 'unreachable');
  return {
    level: isWell ? (known?.level ?? 'good') : 'bad',
    state: isKnown ? known.state : own,
    since: (isKnown ? known.since : null) ?? Date.parse(store.since),
    confirmedAt: confirmedAt === null ? null : Date.parse(confirmedAt),
    leading: controller.leading,
  };
}

function storedLease(stored: NodeShown | undefined): LeaseView | null {
  if (stored === undefined) return null;
  const { state, since = null } = stored;
  return { level: levelOf(state), state, since, confirmedAt: null, leading: false };
}

const levelOf = (state: NodeShown['state']): Level =>
  state === 'ready' ? 'good' : state === 'unreachable' ? 'bad' : 'unknown';

function measureAdds(traces: NodeAnswers['traces']): AddTimes | null {
  const times = traces
    .filter(({ command, result }) => command === 'ADD' && result === 'ok')
    .map(({ duration }) => duration)
    .toSorted((a, b) => a - b);
  if (times.length === 0) return null;
  return { count: times.length, median: times[times.length >> 1]!, slowest: times.at(-1)! };
}

/** node2 before node10. */
export function compareNames(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
