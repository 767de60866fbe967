/** The work of a leader from its election until it loses the lock. */
import { type ClusterAccess, type Collector, createCollector } from '@podwire/cluster-ipam/operations';
import { describeError } from '@podwire/errors';
import { type Log, onAbort } from '@podwire/platform';
import type { Counters } from './metrics.js';
import { NodeLifecycle } from './node-lifecycle.js';
import { NodeWatcher } from './node-watcher.js';
import { SdnLoop } from './sdn/sdn-loop.js';

export interface TermOptions {
  /** With the leader's fence as guard. */
  readonly access: ClusterAccess;
  readonly log: Log;
  readonly evictionTimeout: number;
  readonly grace: number;
  readonly counters: Counters;
}

/** Milliseconds until a failed sync is tried again. */
const retryAfter = 1_000;
/** When a store comes back after an hour, all nodes change at once. */
const parallelSyncs = 16;
/** Milliseconds. Timers hold 31 bits of milliseconds; waking up once an hour costs nothing. */
const longestSleep = 3_600_000;

export class Term {
  readonly #options: TermOptions;
  readonly #lifecycle: NodeLifecycle;
  readonly #collector: Collector;
  readonly #sdn: SdnLoop;
  /** By node: the time of the next sync, on the monotonic clock. */
  readonly #due = new Map<string, number>();
  #lastCollection = 0;

  constructor(options: TermOptions) {
    this.#options = options;
    this.#lifecycle = new NodeLifecycle(options);
    this.#collector = createCollector({ grace: options.grace });
    this.#sdn = new SdnLoop(options);
  }

  get absentNodes(): number {
    return this.#lifecycle.unreachable;
  }

  get candidates(): number {
    return this.#collector.candidates;
  }

  get lastCollection(): number {
    return this.#lastCollection;
  }

  /** Of OpenShift SDN, each with its code in front. */
  get problems(): readonly string[] {
    return this.#sdn.problems;
  }

  /** Until the signal aborts. @throws when a watch ends for good */
  async run(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const { access, log } = this.#options;
    const watcher = new NodeWatcher({ store: access.store, keys: access.keys, log });
    onAbort(either, () => void watcher.close());
    const tasks = [
      this.#syncNodes(watcher, either),
      this.#collectGarbage(either),
      this.#sdn.run(either),
      watcher.ended(),
    ];
    try {
      await Promise.race(tasks);
    } finally {
      over.abort();
      await watcher.close();
      // The term is over when none of its tasks can write any more.
      await Promise.allSettled(tasks);
    }
  }

  /** Syncs each node when it changes, and when its time has come. */
  async #syncNodes(watcher: NodeWatcher, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options.access;
    try {
      await watcher.synced();
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    while (!signal.aborted) {
      const now = clock.elapsed();
      const names = watcher.takeChanged();
      for (const [name, time] of this.#due) if (time <= now) names.add(name);
      await inChunks([...names], parallelSyncs, (name) => this.#syncNode(name, watcher, signal));
      const next = Math.min(...this.#due.values(), clock.elapsed() + longestSleep);
      await sleepOrChange(watcher, clock, next - clock.elapsed(), signal);
    }
  }

  async #syncNode(name: string, watcher: NodeWatcher, signal: AbortSignal): Promise<void> {
    const { access, counters, log } = this.#options;
    this.#due.delete(name);
    try {
      const again = await this.#lifecycle.sync(name, watcher.observe(name), signal);
      if (again !== undefined) this.#due.set(name, access.clock.elapsed() + again);
    } catch (err) {
      if (signal.aborted) return;
      counters.failures++;
      log.warn({ node: name, err }, 'the sync of a node failed; it is tried again');
      this.#due.set(name, access.clock.elapsed() + retryAfter);
    }
  }

  /** Twice per grace, so that two checks a grace apart have one between them. */
  async #collectGarbage(signal: AbortSignal): Promise<void> {
    const { access, counters, grace, log } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#collectOnce(signal);
      } catch (err) {
        if (signal.aborted) return;
        counters.failures++;
        log.warn({ err: describeError(err) }, 'garbage collection failed; it is tried again');
      }
      await access.clock.sleep(Math.min(grace / 2, longestSleep), signal).catch(() => undefined);
    }
  }

  async #collectOnce(signal: AbortSignal): Promise<void> {
    const { access, counters, log } = this.#options;
    const begin = access.clock.elapsed();
    const { repaired, spared, problems } = await this.#collector.collect(access, signal);
    counters.collections++;
    counters.collected += repaired.length;
    counters.spared += spared;
    this.#lastCollection = access.clock.elapsed() - begin;
    for (const { problem, what } of repaired) log.warn({ problem: problem.message, what }, 'cleaned up');
    const left = problems.filter(({ fix }) => fix.how === 'leave');
    if (left.length === 0) return;
    log.warn(
      { count: left.length, first: left.slice(0, 5).map(({ message }) => message) },
      'there are problems that an administrator has to solve: podwire ipam check',
    );
  }
}

async function inChunks(
  names: readonly string[],
  size: number,
  work: (name: string) => Promise<void>,
): Promise<void> {
  for (let start = 0; start < names.length; start += size) {
    await Promise.all(names.slice(start, start + size).map(work));
  }
}

async function sleepOrChange(
  watcher: NodeWatcher,
  clock: ClusterAccess['clock'],
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  const awake = new AbortController();
  const unsubscribe = onAbort(signal, () => awake.abort());
  const sleep = clock.sleep(Math.max(milliseconds, 0), awake.signal).catch(() => undefined);
  await Promise.race([watcher.changed(), sleep]);
  unsubscribe();
  awake.abort();
}
