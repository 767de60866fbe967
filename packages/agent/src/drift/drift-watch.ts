/**
 * Repairs at once what others change, as the kernel tells of it. Events are read a few times a second and not as they
 * come: an ADD causes some twenty of them, and must not wait for that. See docs/decisions/0036.
 */
import { setImmediate } from 'node:timers/promises';
import type { Culprit, KernelWatch } from '@podwire/backend-linux';
import type { Change } from '@podwire/engine';
import { type Clock, withDeadline } from '@podwire/platform';
import { type EndpointContext, ownedBy } from '../endpoints/context.js';
import type { AgentRecord } from '../endpoints/registry.js';
import type { ReconcileLoop } from '../reconcile-loop.js';
import { BackingOff } from './backing-off.js';
import { type DriftLog, nameOwner } from './drift-log.js';
import { SuspectFinder } from './suspects.js';

export interface DriftWatchOptions {
  readonly context: EndpointContext;
  readonly reconciler: Pick<ReconcileLoop, 'run'>;
  readonly drift: DriftLog;
  readonly clock: Clock;
  /** Milliseconds for the look at one owner, and its repair. */
  readonly deadline: number;
}

/** Milliseconds between two looks. What comes in between is looked at together. */
const INTERVAL = 200;
/** More endpoints at once are looked at faster in a round, which reads everything once. */
const MANY = 64;

const ALL = 'all';
const NODE = 'node';

export class DriftWatch {
  readonly #options: DriftWatchOptions;
  readonly #watch: KernelWatch;
  readonly #backingOff: BackingOff;
  /** By `all`, `node` or the key of an endpoint: who has had a hand in it. */
  readonly #suspects = new Map<string, Culprit>();

  constructor(watch: KernelWatch, options: DriftWatchOptions) {
    this.#watch = watch;
    this.#options = options;
    this.#backingOff = new BackingOff(() => options.clock.elapsed());
  }

  /** Resolves when the signal aborts; closes the watch then. */
  async run(signal: AbortSignal): Promise<void> {
    const { drift, clock, context } = this.#options;
    const isEnded = (): Promise<boolean> =>
      clock.sleep(INTERVAL, signal).then(
        () => false,
        () => true,
      );
    drift.watching = true;
    try {
      while (!(await isEnded())) await this.look(signal);
    } catch (err) {
      if (!signal.aborted) context.log.error({ err }, 'drift is found in rounds only from now on');
    } finally {
      drift.watching = false;
      this.#watch.close();
    }
  }

  /** Reads what has come, and looks after those whom it concerns. */
  async look(signal: AbortSignal): Promise<void> {
    const finder = new SuspectFinder(this.#options.context);
    for (;;) {
      const { disturbances, more } = this.#watch.read();
      for (const disturbance of disturbances) {
        if (disturbance.sort === 'lost') this.#options.drift.lost++;
        const suspect = finder.find(disturbance);
        if (suspect === undefined) continue;
        this.#options.context.log.debug({ disturbance }, 'others may have changed something');
        this.#suspect(typeof suspect === 'string' ? suspect : suspect.endpoint, disturbance.by);
      }
      if (!more) break;
      await setImmediate();
    }
    // Before that, the first round looks at everything anyway.
    if (this.#suspects.size === 0 || !this.#options.context.readiness.ready) return;
    await this.#lookAfterAll(signal).catch((err: unknown) => {
      if (!signal.aborted) this.#options.context.log.error({ err }, 'drift could not be looked at');
    });
  }

  /** A program with a name is the better answer to who it was. */
  #suspect(key: string, by: Culprit): void {
    const known = this.#suspects.get(key);
    if (known === undefined || rank(by) > rank(known)) this.#suspects.set(key, by);
  }

  async #lookAfterAll(signal: AbortSignal): Promise<void> {
    const due = [...this.#suspects].filter(([key]) => this.#backingOff.mayTry(key));
    if (due.length === 0) return;
    const isRoundDue = due.some(([key]) => key === ALL) || due.length > MANY;
    if (isRoundDue || (due.some(([key]) => key === NODE) && (await this.#isNodeDrifted()))) {
      // A round looks at all of them.
      for (const [key] of due) this.#noteTry(key);
      return this.#runRound(due);
    }
    for (const [key, by] of due) {
      signal.throwIfAborted();
      if (key !== NODE) await this.#lookAfter(key, by);
    }
  }

  async #isNodeDrifted(): Promise<boolean> {
    const { context, drift, deadline } = this.#options;
    this.#suspects.delete(NODE);
    drift.checks++;
    const { node, engine } = context;
    const drifts = await withDeadline(undefined, deadline, (signal) =>
      engine.verify(node.owned(), { signal }),
    );
    return drifts.length > 0;
  }

  async #runRound(due: readonly (readonly [string, Culprit])[]): Promise<void> {
    const { reconciler, drift } = this.#options;
    for (const [key] of due) this.#suspects.delete(key);
    drift.checks++;
    const { changes } = await reconciler.run();
    const [first] = due.map(([, by]) => by).toSorted((a, b) => rank(b) - rank(a));
    drift.note(changes, first === undefined ? undefined : describeCulprit(first));
  }

  /** Beside requests: one that a request is working on is looked at when that has done. */
  async #lookAfter(key: string, by: Culprit): Promise<void> {
    const { context, drift, deadline } = this.#options;
    const work = context.locks.tryWithKey(key, async () => {
      this.#suspects.delete(key);
      const record = context.endpoints.get(key);
      // Without its namespace it is dead, which is for a round to find.
      if (record?.phase !== 'ready' || context.namespaces.isGone(record.namespace)) return;
      drift.checks++;
      this.#noteTry(key, by);
      const changes = await withDeadline(undefined, deadline, (signal) =>
        repairIfDrifted(context, record, signal),
      );
      drift.note(changes, describeCulprit(by));
    });
    await work;
  }

  #noteTry(key: string, by?: Culprit): void {
    const pause = this.#backingOff.noteTry(key);
    if (pause === undefined) return;
    const { context } = this.#options;
    const owner = key === ALL || key === NODE ? key : nameOwner(context.endpoints, `endpoint:${key}`);
    const who = by === undefined ? undefined : describeCulprit(by);
    context.log.warn(
      { of: owner, by: who ?? 'unknown', ms: pause },
      'something changes it again and again; it is looked at less often',
    );
  }
}

/** Looks at single things first: nearly always nothing is wrong, and a round reads all of the node. */
async function repairIfDrifted(
  { engine, node, cluster, endpoints }: EndpointContext,
  record: AgentRecord,
  signal: AbortSignal,
): Promise<Change[]> {
  const drifts = await engine.verify(ownedBy(record), { signal });
  if (drifts.length === 0) return [];
  const round = engine.startReconcile(() => [
    node.owned(),
    ...(cluster?.peers.owned() ?? []),
    ...endpoints.all().map(ownedBy),
  ]);
  return round.repair([ownedBy(record)], { signal });
}

const rank = ({ port, name }: Culprit): number => (name !== undefined ? 2 : port === 0 ? 0 : 1);

/** Undefined where the kernel has done it: as a consequence of something, or asked by a call that leaves no trace. */
function describeCulprit({ port, name }: Culprit): string | undefined {
  if (name !== undefined) return `${name} (process ${port})`;
  return port === 0 ? undefined : `port ${port}`;
}
