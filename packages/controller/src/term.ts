/** What a leader does from the beginning of its term to the end. */
import { type ClusterAccess, type Collector, createCollector } from '@podwire/cluster-ipam/operations';
import { describeError } from '@podwire/errors';
import type { Log } from '@podwire/platform';
import { createLifeCycle, type LifeCycle } from './life-cycle.js';
import type { Counters } from './metrics.js';
import { followNodes, type Sights } from './sights.js';

export interface TermOptions {
  /** With the leader's fence as guard. */
  readonly access: ClusterAccess;
  readonly log: Log;
  readonly vanishAfter: number;
  readonly grace: number;
  readonly counters: Counters;
}

export interface Term {
  /** Until the signal aborts. @throws when a watch ends for good */
  run(signal: AbortSignal): Promise<void>;
  readonly absentNodes: number;
  readonly candidates: number;
  readonly lastCollection: number;
}

/** Milliseconds until what failed is tried again. */
const retryAfter = 1_000;
/** When a store comes back after an hour, all nodes change at once. */
const atOnce = 16;

export function createTerm(options: TermOptions): Term {
  const { access, log, grace, counters } = options;
  const lifeCycle = createLifeCycle(options);
  const collector = createCollector({ grace });
  const state = { lastCollection: 0 };
  return {
    get absentNodes() {
      return lifeCycle.absent;
    },
    get candidates() {
      return collector.candidates;
    },
    get lastCollection() {
      return state.lastCollection;
    },
    async run(signal) {
      const over = new AbortController();
      const either = AbortSignal.any([signal, over.signal]);
      const sights = followNodes({ store: access.store, keys: access.keys, log }, either);
      const parts = [
        attendNodes(options, lifeCycle, sights, either),
        collectGarbage(access, { grace, log, counters, collector, state }, either),
        sights.ended,
      ];
      try {
        await Promise.race(parts);
      } finally {
        over.abort();
        // A term has ended when nothing of it can write any more.
        await Promise.allSettled(parts);
      }
    },
  };
}

/** Looks at each node when something is new about it, and when its time has come. */
async function attendNodes(
  { access: { clock }, log, counters }: TermOptions,
  lifeCycle: LifeCycle,
  sights: Sights,
  signal: AbortSignal,
): Promise<void> {
  await sights.synced;
  /** By node: when to look again, on the monotonic clock. */
  const due = new Map<string, number>();
  const attend = async (name: string): Promise<void> => {
    due.delete(name);
    try {
      const again = await lifeCycle.attend(name, sights.of(name), signal);
      if (again !== undefined) due.set(name, clock.elapsed() + again);
    } catch (err) {
      if (signal.aborted) return;
      counters.failures++;
      log.warn({ node: name, err }, 'a node could not be attended to; it is tried again');
      due.set(name, clock.elapsed() + retryAfter);
    }
  };
  while (!signal.aborted) {
    const now = clock.elapsed();
    const names = sights.takeChanged();
    for (const [name, time] of due) if (time <= now) names.add(name);
    await inChunks([...names], attend);
    const next = Math.min(...due.values());
    await untilChangedOr(sights, clock, next - clock.elapsed(), signal);
  }
}

async function inChunks(names: readonly string[], attend: (name: string) => Promise<void>): Promise<void> {
  for (let start = 0; start < names.length; start += atOnce) {
    await Promise.all(names.slice(start, start + atOnce).map(attend));
  }
}

async function untilChangedOr(
  sights: Sights,
  clock: ClusterAccess['clock'],
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  const awake = new AbortController();
  const stop = (): void => awake.abort();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const sleep = clock
    .sleep(Math.min(Math.max(milliseconds, 0), longestSleep), awake.signal)
    .catch(() => undefined);
  await Promise.race([sights.changed(), sleep]);
  signal.removeEventListener('abort', stop);
  awake.abort();
}

/** Timers of the platform hold 31 bits of milliseconds; nothing is lost by looking once an hour. */
const longestSleep = 3_600_000;

interface CollectOptions {
  readonly grace: number;
  readonly log: Log;
  readonly counters: Counters;
  readonly collector: Collector;
  readonly state: { lastCollection: number };
}

/** A look at everything each half grace, so that two looks a grace apart have one between them. */
async function collectGarbage(
  access: ClusterAccess,
  { grace, log, counters, collector, state }: CollectOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const begin = access.clock.elapsed();
    try {
      const { mended, spared, findings } = await collector.collect(access, signal);
      counters.collections++;
      counters.collected += mended.length;
      counters.spared += spared;
      state.lastCollection = access.clock.elapsed() - begin;
      for (const { finding, what } of mended) log.warn({ finding: finding.message, what }, 'cleaned up');
      const left = findings.filter(({ remedy }) => remedy.how === 'leave');
      if (left.length > 0) {
        log.warn(
          { count: left.length, first: left.slice(0, 5).map(({ message }) => message) },
          'something is wrong that people have to look at: podwire ipam check',
        );
      }
    } catch (err) {
      if (signal.aborted) return;
      counters.failures++;
      log.warn({ err: describeError(err) }, 'the cluster could not be looked through; it is tried again');
    }
    await access.clock.sleep(Math.min(grace / 2, longestSleep), signal).catch(() => undefined);
  }
}
