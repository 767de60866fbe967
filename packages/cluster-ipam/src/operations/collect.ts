/** Garbage collection: repairs problems that persist. */
import { type ClusterAccess, commit } from './access.js';
import { type CheckOptions, look } from './check.js';
import type { Problem, Repair } from './problems/index.js';

export interface CollectorOptions extends Pick<CheckOptions, 'requestLimit'> {
  /** Milliseconds for which a problem must persist before it is repaired. 15 minutes by default. */
  readonly grace?: number;
}

export interface Collection {
  /** Problems that can be repaired, due or not. */
  readonly candidates: number;
  readonly repaired: readonly { readonly problem: Problem; readonly what: string }[];
  /** Repairs whose conditions did not hold any more. */
  readonly spared: number;
  /** Everything that was found, with what is left to people. */
  readonly problems: readonly Problem[];
}

export interface Collector {
  /** One look at everything. To be called every half grace; what was not found in between begins anew. */
  collect(access: ClusterAccess, signal: AbortSignal): Promise<Collection>;
  /** Findings that wait for their second look. */
  readonly candidates: number;
}

const defaultGrace = 15 * 60_000;

/**
 * Remembers in memory when it found what: one that takes over begins anew, which is late and never early. Time is that of the
 * monotonic clock.
 */
export function createCollector(options: CollectorOptions = {}): Collector {
  const { grace = defaultGrace } = options;
  let seen: ReadonlyMap<string, number> = new Map();
  return {
    get candidates() {
      return seen.size;
    },
    async collect(access, signal) {
      const now = access.clock.elapsed();
      const { problems } = await look(access, { ...options, grace }, signal);
      const repairable = problems.filter(({ fix }) => fix.how === 'write');
      seen = new Map(repairable.map(({ id }) => [id, seen.get(id) ?? now]));
      const due = repairable.filter(({ id }) => now - (seen.get(id) ?? now) >= grace);
      const { repaired, spared } = await repairDue(access, due, signal);
      return { candidates: repairable.length, repaired, spared, problems };
    },
  };
}

async function repairDue(
  access: ClusterAccess,
  due: readonly Problem[],
  signal: AbortSignal,
): Promise<Pick<Collection, 'repaired' | 'spared'>> {
  const repaired: { problem: Problem; what: string }[] = [];
  const outcomes = new Map<Repair, boolean>();
  for (const problem of due) {
    const { fix } = problem;
    if (fix.how !== 'write') continue;
    const done = outcomes.get(fix) ?? (await commit(access, fix.transaction, signal)) !== undefined;
    outcomes.set(fix, done);
    if (done) repaired.push({ problem, what: fix.what });
  }
  return { repaired, spared: due.length - repaired.length };
}
