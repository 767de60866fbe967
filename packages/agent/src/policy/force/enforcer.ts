/**
 * Brings known inputs into the kernel: they are gathered, compiled, rendered and exchanged, one transaction after the
 * other. Inputs that come while one is under way travel together in the next one. When the kernel refuses that, pods
 * that have come are tried one by one: a pod does not fail because of another one.
 */
import type { Change, Engine, Owned } from '@podwire/engine';
import type { PolicyRenderer, RenderedDelta } from '@podwire/network-policy';
import type { Revision } from '@podwire/objects';
import { type Clock, type FaultPoints, hasCode, Semaphore, withDeadline, Workqueue } from '@podwire/platform';
import type { PolicyCompiler } from '@podwire/policy';
import type { Log } from '../../log.js';
import { exchangePolicy } from './exchange.js';
import { policyOwner } from '../parts.js';
import {
  type Arrival,
  isOvertaken,
  joinArrivals,
  LastSaid,
  type Part,
  type Pending,
  type Push,
  separate,
  touches,
} from './pushes.js';
import { isNothing, joinDeltas, nothingRendered } from './rendered.js';

export interface EnforcerOptions {
  readonly compiler: PolicyCompiler;
  readonly renderer: PolicyRenderer;
  readonly engine: Pick<Engine, 'change' | 'verify' | 'kinds'>;
  readonly clock: Clock;
  readonly faults: FaultPoints;
  readonly log: Log;
  /** Called when something else is in force than before. */
  readonly onApplied: (applied: Applied) => void;
}

/** One transaction, or nothing where nothing had to be changed. */
export interface Applied {
  /** Milliseconds of compiling and rendering, and of the kernel. */
  readonly compile: number;
  readonly exchange: number;
  readonly changed: number;
}

const queueKey = 'policy';
/** Milliseconds: a transaction of 10,000 elements takes some 100. */
const exchangeDeadline = 10_000;
const backoff = { first: 100, longest: 5_000 } as const;

/** A pod that the kernel has refused. It is tried again until something else is said of it. */
interface Refused {
  readonly arrival: Arrival;
  readonly error: unknown;
}

export class Enforcer {
  readonly #options: EnforcerOptions;
  readonly #queue: Workqueue<typeof queueKey>;
  /** Exchange and repair: never side by side. */
  readonly #kernel = new Semaphore(1);
  readonly #said = new LastSaid();
  #pending: Pending[] = [];
  #refused: Refused[] = [];
  /** Rendered resources that the kernel has not taken yet. */
  #owed: RenderedDelta = nothingRendered;
  #revision: Revision | undefined;
  #isOpen = false;
  /** The kernel may have something else than what was rendered last: all of it is compared. */
  #isUncertain = true;
  #inForce: Revision | undefined;
  #problem: unknown;

  constructor(options: EnforcerOptions) {
    this.#options = options;
    this.#queue = new Workqueue({
      reconcile: (_, signal) => this.#drain(signal),
      onError: (err) =>
        options.log.error({ err }, 'policy could not be brought into force; it is tried again'),
      clock: options.clock,
      backoff,
    });
  }

  /** Revision of the objects that are in force. */
  get inForce(): Revision | undefined {
    return this.#inForce;
  }

  /** Why the kernel does not have what was asked for last. */
  get problem(): unknown {
    return this.#problem ?? this.#refused[0]?.error;
  }

  /** True once the whole table has been in place. */
  get isApplied(): boolean {
    return !this.#isUncertain;
  }

  /** Until now nothing was compiled: everything that came before is compiled at once. */
  open(): void {
    this.#isOpen = true;
    this.#queue.add(queueKey);
  }

  /** Resolves when it is in force. @throws what the engine throws; the next push tries again */
  push({ inputs = [], links = [], revision }: Push): Promise<void> {
    const done = new Promise<void>((resolve, reject) =>
      this.#pending.push({ inputs, links, revision, resolve, reject }),
    );
    if (this.#isOpen) this.#queue.add(queueKey);
    return done;
  }

  /** Resources that are wanted now, in order of creation. */
  owned(): Owned[] {
    return this.#isOpen ? [{ owner: policyOwner, resources: this.#options.renderer.resources }] : [];
  }

  /** Compares the kernel with what is wanted and repairs it in one transaction. */
  async repair(signal: AbortSignal): Promise<readonly Change[]> {
    if (!this.#isOpen || this.#isUncertain) return [];
    return this.#kernel.run(() => this.#repair(signal), signal);
  }

  async stop(reason: unknown): Promise<void> {
    await this.#queue.stop(reason);
    for (const { reject } of this.#pending.splice(0)) reject(reason);
  }

  async #drain(signal: AbortSignal): Promise<void> {
    do await this.#kernel.run(() => this.#round(signal), signal);
    while (this.#pending.length > 0);
    // Tried again after a pause.
    if (this.#refused.length > 0) throw this.#refused[0]!.error;
  }

  async #round(signal: AbortSignal): Promise<void> {
    const batch = this.#pending.splice(0);
    this.#refused = this.#refused.filter(({ arrival }) => !batch.some((push) => touches(push, arrival)));
    this.#revision = batch.findLast(({ revision }) => revision !== undefined)?.revision ?? this.#revision;
    try {
      if (batch.length > 0 || this.#isUncertain) await this.#enforceBatch(batch, signal);
      else await this.#retry(signal);
      this.#problem = undefined;
    } catch (error) {
      this.#isUncertain = true;
      this.#problem = error;
      for (const { reject } of batch) reject(error);
      throw error;
    }
  }

  async #enforceBatch(batch: readonly Pending[], signal: AbortSignal): Promise<void> {
    const canBeParted = !this.#isUncertain && batch.length > 1;
    const before = canBeParted ? this.#said.before(batch) : undefined;
    try {
      await this.#enforce(joinArrivals(batch), signal);
      for (const { resolve } of batch) resolve();
    } catch (error) {
      if (before === undefined || !hasCode(error, 'KERNEL_REFUSED')) throw error;
      await this.#part(batch, separate(batch, before), error, signal);
    }
  }

  /** Everything but the pods that have come, together; then these one by one. */
  async #part(
    batch: readonly Pending[],
    parts: readonly (Part | undefined)[],
    refusal: unknown,
    signal: AbortSignal,
  ): Promise<void> {
    const all = parts.filter((part) => part !== undefined);
    if (all.length === 0) throw refusal;
    try {
      await this.#enforce(joinArrivals(all.map(({ inverse }) => inverse)), signal);
    } catch (error) {
      // It is not because of the pods: nothing is lost of what was said.
      this.#render(joinArrivals(all.map(({ arrival }) => arrival)));
      throw error;
    }
    const errors: unknown[] = [];
    for (const part of parts) errors.push(part && (await this.#tryAlone(part.arrival, signal)));
    for (const [index, push] of batch.entries()) {
      const overtaking = parts.findIndex((part, at) => at > index && part && isOvertaken(push, part.arrival));
      const error = errors[index] ?? errors[overtaking];
      if (error === undefined) push.resolve();
      else push.reject(error);
    }
  }

  async #retry(signal: AbortSignal): Promise<void> {
    const again = this.#refused;
    this.#refused = [];
    for (const { arrival } of again) await this.#tryAlone(arrival, signal);
  }

  /** @returns why the kernel has refused it; it is taken back then, and nothing of it is in force */
  async #tryAlone(arrival: Arrival, signal: AbortSignal): Promise<unknown> {
    const inverse = this.#said.inverseOf(arrival);
    try {
      await this.#enforce(arrival, signal);
      return undefined;
    } catch (error) {
      if (!hasCode(error, 'KERNEL_REFUSED')) throw error;
      this.#render(inverse);
      this.#refused.push({ arrival, error });
      return error;
    }
  }

  async #enforce(change: Arrival, signal: AbortSignal): Promise<void> {
    const { clock, faults, onApplied } = this.#options;
    const begin = clock.elapsed();
    this.#render(change);
    const compiled = clock.elapsed();
    const owed = this.#owed;
    let changed = owed.add.length + owed.remove.length;
    if (this.#isUncertain) changed = (await this.#repair(signal)).length;
    else if (changed > 0)
      await withDeadline(signal, exchangeDeadline, (limit) => exchangePolicy(this.#options, owed, limit));
    this.#owed = nothingRendered;
    this.#isUncertain = false;
    this.#inForce = this.#revision;
    faults.reach('policy:in-force');
    onApplied({ compile: compiled - begin, exchange: clock.elapsed() - compiled, changed });
  }

  /** Compiles and renders a change, and adds the result to the delta that the kernel has not taken yet. */
  #render(change: Arrival): void {
    const { compiler, renderer, engine, faults } = this.#options;
    this.#said.note(change);
    const delta = compiler.apply(change.inputs);
    faults.reach('policy:compiled');
    this.#owed = joinDeltas(this.#owed, renderer.apply(delta, change.links), engine.kinds.keyOf);
    faults.reach('policy:rendered');
  }

  /**
   * One transaction with all that is missing or other, and without elements that had to go. What else is too much is for a reconcile to
   * prune: something of an earlier life may still refer to it.
   */
  async #repair(signal: AbortSignal): Promise<readonly Change[]> {
    const { renderer, engine, faults } = this.#options;
    const { resources } = renderer;
    return withDeadline(signal, exchangeDeadline, async (limit) => {
      const drifts = await engine.verify({ owner: policyOwner, resources }, { signal: limit });
      faults.reach('policy:compared');
      const remove = this.#owed.remove.filter(({ kind }) => kind === 'nft-element');
      const change = { add: drifts.map(({ resource }) => resource), remove };
      if (isNothing(change)) return [];
      await exchangePolicy(this.#options, change, limit);
      faults.reach('policy:repaired');
      return change.add.map((resource): Change => ({
        owner: policyOwner,
        action: 'repaired',
        what: engine.kinds.describe(resource),
      }));
    });
  }
}
