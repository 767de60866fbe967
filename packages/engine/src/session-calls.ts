/**
 * Calls of sessions that end. A backend that hangs costs its caller one deadline, and after that nothing: it is not
 * asked again in the same call of the engine. docs/decisions/0066 has the reasons.
 */
import { PodwireError } from '@podwire/errors';
import { onAbort } from '@podwire/platform';
import type {
  Batch,
  Exchange,
  Failure,
  MarkedThing,
  Observed,
  Repair,
  Resource,
  Session,
  SessionOptions,
  Snapshot,
} from './contract.js';

/** Backends that did not answer within one call of the engine, by name. */
export type SilentBackends = Map<string, PodwireError>;

/** How many calls were left behind since the start, by backend. */
export type AbandonedCalls = Map<string, number>;

export interface CallLimits {
  /** Milliseconds for one call of a session. */
  readonly deadline: number;
  readonly silent: SilentBackends;
  readonly abandoned: AbandonedCalls;
}

/** The limit of the calls that one caller makes, one after the other. */
export class CallGuard {
  readonly #limits: CallLimits;
  readonly #signal: AbortSignal;
  #watch: Watch | undefined;

  /** @param signal the caller's */
  constructor(limits: CallLimits, signal: AbortSignal) {
    this.#limits = limits;
    this.#signal = signal;
  }

  /**
   * @param waits milliseconds beyond the deadline
   * @throws PodwireError BACKEND_SILENT, DEADLINE_EXCEEDED when the caller's signal aborts; the work is left behind
   */
  async run<T>(backend: string, work: (options: SessionOptions) => Promise<T>, waits = 0): Promise<T> {
    const { silent, deadline, abandoned } = this.#limits;
    const silence = silent.get(backend);
    if (silence !== undefined) throw silence;
    if (this.#signal.aborted) throw givenUp(backend, this.#signal.reason);
    const watch = (this.#watch ??= new Watch(deadline, this.#signal));
    watch.begin(backend, waits);
    try {
      return await Promise.race([watch.ended, work({ signal: watch.signal })]);
    } catch (error) {
      if (watch.isLeftBehindBy(error)) abandoned.set(backend, (abandoned.get(backend) ?? 0) + 1);
      if (error instanceof PodwireError && error.code === 'BACKEND_SILENT') this.#noteSilence(backend, error);
      throw error;
    } finally {
      watch.end();
    }
  }

  /** Aborts as that of each call does; undefined for a backend that was silent. */
  signalFor(backend: string): AbortSignal | undefined {
    const { silent, deadline } = this.#limits;
    if (silent.has(backend) || this.#signal.aborted) return undefined;
    return (this.#watch ??= new Watch(deadline, this.#signal)).signal;
  }

  #noteSilence(backend: string, error: PodwireError): void {
    this.#limits.silent.set(backend, error);
    this.close();
  }

  close(): void {
    this.#watch?.close();
    this.#watch = undefined;
  }
}

/** One timer and one listener for all calls: an ADD makes some ten of them, and each would cost it microseconds. */
class Watch {
  /** Rejects when the call under way has to be left behind. */
  readonly ended: Promise<never>;
  readonly #over = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #unsubscribe: () => void;
  readonly #deadline: number;
  #backend: string | undefined;
  #waits = 0;
  /** How many halves of the deadline are left after this one. */
  #halves = 1;

  constructor(deadline: number, signal: AbortSignal) {
    this.#deadline = deadline;
    this.ended = new Promise((_, reject) => {
      onAbort(this.#over.signal, reject);
    });
    this.ended.catch(() => undefined);
    // In two halves: after a pause of the whole process the first one is over before any answer can be read.
    this.#timer = setTimeout(() => this.#expireHalf(), deadline / 2).unref();
    this.#unsubscribe = onAbort(signal, (reason) => this.#over.abort(givenUp(this.#backend, reason)));
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** The engine waits for the call no more; an error of the backend's own is an answer. */
  isLeftBehindBy(error: unknown): boolean {
    return this.signal.aborted && this.signal.reason === error;
  }

  begin(backend: string, waits: number): void {
    this.#backend = backend;
    this.#waits = waits;
    this.#halves = 1 + Math.ceil((2 * waits) / this.#deadline);
    this.#timer.refresh();
  }

  end(): void {
    this.#backend = undefined;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#unsubscribe();
  }

  #expireHalf(): void {
    if (this.#backend === undefined) return;
    if (this.#halves === 0) this.#over.abort(silenceOf(this.#backend, this.#deadline + this.#waits));
    this.#halves -= 1;
    this.#timer.refresh();
  }
}

function silenceOf(backend: string, deadline: number): PodwireError {
  return new PodwireError('BACKEND_SILENT', `${backend} has not answered for ${deadline / 1_000} s`);
}

function givenUp(backend: string | undefined, cause: unknown): PodwireError {
  const where = backend === undefined ? '' : ` while ${backend} was at work`;
  return new PodwireError('DEADLINE_EXCEEDED', `the call was given up${where}`, { cause });
}

/** A session that ends each call; see {@link CallGuard}. */
export class GuardedSession {
  readonly #backend: string;
  readonly #session: Session;
  readonly #guard: CallGuard;
  readonly #waitsFor: (resource: Resource) => number;

  /** @param waitsFor milliseconds that making the resource may take beyond the deadline */
  constructor(backend: string, session: Session, guard: CallGuard, waitsFor: (resource: Resource) => number) {
    this.#backend = backend;
    this.#session = session;
    this.#guard = guard;
    this.#waitsFor = waitsFor;
  }

  async reaches(place: string): Promise<boolean> {
    return this.#run((call) => this.#session.reaches(place, call));
  }

  prepare(batch: Batch): void {
    const signal = this.#guard.signalFor(this.#backend);
    if (signal !== undefined) this.#session.prepare?.(batch, { signal });
  }

  async create(batch: Batch): Promise<readonly Failure[]> {
    return this.#run((call) => this.#session.create(batch, call), this.#longestWait(batch));
  }

  async repair(batch: Batch, repairs: readonly Repair[]): Promise<readonly Failure[]> {
    return this.#run((call) => this.#session.repair(batch, repairs, call), this.#longestWait(batch));
  }

  async remove(batch: Batch): Promise<readonly Failure[]> {
    return this.#run((call) => this.#session.remove(batch, call));
  }

  /** True where something is gained by going on before the end of a removal. */
  get startsRemovals(): boolean {
    return this.#session.startRemoval !== undefined;
  }

  /** @returns how to wait for its end */
  async startRemoval(batch: Batch): Promise<() => Promise<readonly Failure[]>> {
    const { done } = await this.#run(async (call) => this.#session.startRemoval!(batch, call));
    done.catch(() => undefined);
    return async () => this.#run(async () => done);
  }

  /** @throws RangeError where the backend has no transactions */
  async exchange(exchange: Exchange): Promise<readonly Failure[]> {
    if (this.#session.exchange === undefined) throw new RangeError(`${this.#backend} has no transactions`);
    return this.#run((call) => this.#session.exchange!(exchange, call));
  }

  async observe(resources: readonly Resource[], snapshot: Snapshot | undefined): Promise<Observed> {
    return this.#run((call) => this.#session.observe(resources, snapshot, call));
  }

  async recover(missing: readonly Resource[], isOwned: (key: string) => boolean): Promise<void> {
    if (this.#session.recover === undefined) return;
    await this.#run(async (call) => this.#session.recover!(missing, isOwned, call));
  }

  async clear(missing: readonly Resource[]): Promise<readonly Failure[]> {
    if (this.#session.clear === undefined) return [];
    return this.#run(async (call) => this.#session.clear!(missing, call));
  }

  async listMarked(
    wanted: readonly Resource[],
    snapshot: Snapshot | undefined,
  ): Promise<readonly MarkedThing[]> {
    // A silent backend without such things has no leftovers that could not be looked for.
    if (this.#session.listMarked === undefined) return [];
    return this.#run(async (call) => this.#session.listMarked!(wanted, snapshot, call));
  }

  async prune(things: readonly MarkedThing[]): Promise<ReadonlyMap<MarkedThing, unknown>> {
    if (this.#session.prune === undefined) return new Map();
    return this.#run(async (call) => this.#session.prune!(things, call));
  }

  close(): void {
    this.#session.close();
  }

  /** All that waits in one batch waits at the same time. */
  #longestWait({ resources }: Batch): number {
    return resources.reduce((longest, resource) => Math.max(longest, this.#waitsFor(resource)), 0);
  }

  async #run<T>(work: (options: SessionOptions) => Promise<T>, waits = 0): Promise<T> {
    return this.#guard.run(this.#backend, work, waits);
  }
}
