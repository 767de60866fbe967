/** The background loop of a node's addressing: one step after the other, each with a deadline. */
import { describeError } from '@podwire/errors';
import { backoffDelay, type Clock, type Log, Notify, pause } from '@podwire/platform';
import { isUncertain } from '@podwire/store';
import type { Timing } from './contract.js';
import { forEachTolerant, noteRefusal, type Problems } from './events.js';

export type Step = (signal: AbortSignal) => Promise<void>;

export interface BackgroundOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly timing: Timing;
  readonly problems: Problems;
  readonly stopped: AbortSignal;
  /** Reports if the cluster cache has its first snapshot. */
  readonly isSynced: () => boolean;
  /** Reports if the store has the node's lease and has confirmed the node. */
  readonly isConfirmed: () => boolean;
  readonly isRegistered: () => boolean;
  /** Reports if the node must be confirmed before the next regular time. */
  readonly mustConfirm: () => boolean;
  /** @returns whether the store confirmed the node */
  readonly confirm: (signal: AbortSignal) => Promise<boolean>;
  readonly resolveUncertainGrants: Step;
  /** For a confirmed node. */
  readonly steps: readonly Step[];
  /** Less often, for a confirmed node. */
  readonly tidySteps: readonly Step[];
  /** Elapsed milliseconds at which a step is due. */
  readonly nextAt: () => number;
}

/** Milliseconds between attempts of a node that the store does not know. */
const unknownPause = 1_000;

export class Background {
  readonly #options: BackgroundOptions;
  readonly #notify = new Notify();
  #nextConfirm = 0;
  #nextTidy = 0;
  #wasConfirmed = false;
  #running: Promise<void> | undefined;

  constructor(options: BackgroundOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#loop();
  }

  wake(): void {
    this.#notify.notify();
  }

  /** Resolves when the loop has ended with its signal. */
  async ended(): Promise<void> {
    await this.#running;
  }

  /** All steps once: a step that always fails must not prevent the others. @throws as the store does */
  async runOnce(signal: AbortSignal): Promise<void> {
    const { log, isSynced, isConfirmed, steps, resolveUncertainGrants } = this.#options;
    if (!isSynced()) return;
    const whenConfirmed =
      (step: Step): Step =>
      async (either) => {
        if (isConfirmed()) await step(either);
      };
    const all: Step[] = [
      resolveUncertainGrants,
      (either) => this.#confirm(either),
      ...steps.map(whenConfirmed),
      whenConfirmed((either) => this.#tidy(either)),
    ];
    await forEachTolerant(log, all, signal, (step) => step(signal));
  }

  async #confirm(signal: AbortSignal): Promise<void> {
    const { clock, timing, isRegistered, mustConfirm, confirm } = this.#options;
    const isLost = this.#wasConfirmed && !isRegistered();
    if (clock.elapsed() < this.#nextConfirm && !mustConfirm() && !isLost) return;
    this.#wasConfirmed = await confirm(signal);
    this.#nextConfirm = clock.elapsed() + (this.#wasConfirmed ? timing.confirmEvery : unknownPause);
  }

  async #tidy(signal: AbortSignal): Promise<void> {
    const { clock, timing, log, tidySteps } = this.#options;
    if (clock.elapsed() < this.#nextTidy) return;
    this.#nextTidy = clock.elapsed() + timing.tidyEvery;
    await forEachTolerant(log, tidySteps, signal, (step) => step(signal));
  }

  async #loop(): Promise<void> {
    const { clock, log, timing, problems, stopped } = this.#options;
    let failures = 0;
    while (!stopped.aborted) {
      try {
        await this.runOnce(stopped);
        failures = 0;
        noteRefusal(problems, 'blocks', undefined);
        await this.#notify.notifiedWithin(this.#pause(), clock, stopped);
      } catch (err) {
        if (stopped.aborted) return;
        failures++;
        noteRefusal(problems, 'blocks', err);
        const message = isUncertain(err) ? 'a write may or may not have been executed' : describeError(err);
        log.warn({ err }, `addressing: ${message}; it is tried again`);
        // Whatever happens meanwhile: the store gets its rest.
        const backoff = { first: timing.firstPause, longest: timing.lastPause };
        await pause(clock, backoffDelay(failures, backoff), stopped);
      }
    }
  }

  #pause(): number {
    const { clock, isRegistered, nextAt } = this.#options;
    if (!isRegistered()) return unknownPause;
    return Math.max(10, Math.min(this.#nextConfirm, this.#nextTidy, nextAt()) - clock.elapsed());
  }
}
