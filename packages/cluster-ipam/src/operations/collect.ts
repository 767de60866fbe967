/** Garbage collection: repairs problems that persist. */
import { type ClusterAccess, commit } from './access.js';
import { type CheckOptions, look } from './check.js';
import type { Finding, Mend } from './findings/index.js';

export interface CollectorOptions extends Pick<CheckOptions, 'requestLimit'> {
  /** Milliseconds for which a problem must persist before it is repaired. 15 minutes by default. */
  readonly grace?: number;
}

export interface Collection {
  /** Problems that can be repaired, due or not. */
  readonly candidates: number;
  readonly mended: readonly { readonly finding: Finding; readonly what: string }[];
  /** Repairs whose conditions did not hold any more. */
  readonly spared: number;
  /** Everything that was found, with what is left to people. */
  readonly findings: readonly Finding[];
}

export interface Collector {
  /** One look at everything. To be called every half grace; what was not found in between begins anew. */
  collect(access: ClusterAccess, signal: AbortSignal): Promise<Collection>;
  /** What was found waits for its second look. */
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
      const { findings } = await look(access, { ...options, grace }, signal);
      const mendable = findings.filter(({ remedy }) => remedy.how === 'write');
      seen = new Map(mendable.map(({ id }) => [id, seen.get(id) ?? now]));
      const due = mendable.filter(({ id }) => now - (seen.get(id) ?? now) >= grace);
      const { mended, spared } = await mendDue(access, due, signal);
      return { candidates: mendable.length, mended, spared, findings };
    },
  };
}

async function mendDue(
  access: ClusterAccess,
  due: readonly Finding[],
  signal: AbortSignal,
): Promise<Pick<Collection, 'mended' | 'spared'>> {
  const mended: { finding: Finding; what: string }[] = [];
  const outcomes = new Map<Mend, boolean>();
  for (const finding of due) {
    const { remedy } = finding;
    if (remedy.how !== 'write') continue;
    const done = outcomes.get(remedy) ?? (await commit(access, remedy.transaction, signal)) !== undefined;
    outcomes.set(remedy, done);
    if (done) mended.push({ finding, what: remedy.what });
  }
  return { mended, spared: due.length - mended.length };
}
