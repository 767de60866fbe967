/**
 * Measures the layers that containers have written over their root directories. Measuring means a look at every file, so it goes on in the
 * background, one container at a time, and an answer is good for ten seconds (containerd's period for it).
 */
import { nowNanoseconds } from '@podwire/cri';
import path from 'node:path';
import { describeError } from '@podwire/errors';
import { measureTree, type TreeUse } from '@podwire/linux';
import { pause, withDeadline } from '@podwire/platform';
import type { Clock, Log } from './options.js';
import { containerDirectory } from './state/directory.js';

export interface LayerUse extends TreeUse {
  /** When it was measured, in nanoseconds since 1970. */
  readonly timestamp: bigint;
}

/** Of the single container: with more than that what is counted is a part. */
const LIMITS = { entries: 1_000_000, depth: 128 };
const MEASURE_MILLISECONDS = 30_000;
const FRESH_MILLISECONDS = 10_000;
/** So long a call waits for a measurement. */
const WAIT_MILLISECONDS = 1_000;

interface Known {
  use: LayerUse | undefined;
  measuredAt: number;
  measuring: Promise<void> | undefined;
}

export class Layers {
  readonly #environment: { readonly directory: string; readonly clock: Clock; readonly log: Log };
  readonly #closing: AbortSignal;
  readonly #all = new Map<string, Known>();
  #last = Promise.resolve();

  constructor(
    environment: { readonly directory: string; readonly clock: Clock; readonly log: Log },
    closing: AbortSignal,
  ) {
    this.#environment = environment;
    this.#closing = closing;
  }

  /** The latest measurement; undefined when the first one is still under way, or has failed. Never throws. */
  async useOf(containerId: string): Promise<LayerUse | undefined> {
    const { clock } = this.#environment;
    const known = this.#all.get(containerId) ?? {
      use: undefined,
      measuredAt: -Infinity,
      measuring: undefined,
    };
    this.#all.set(containerId, known);
    if (clock.elapsed() - known.measuredAt < FRESH_MILLISECONDS) return known.use;
    known.measuring ??= this.#last = this.#last.then(() => this.#measure(containerId, known));
    const enough = new AbortController();
    await Promise.race([known.measuring, pause(clock, WAIT_MILLISECONDS, enough.signal)]);
    enough.abort();
    return known.use;
  }

  forget(containerId: string): void {
    this.#all.delete(containerId);
  }

  async #measure(id: string, known: Known): Promise<void> {
    const { directory, clock, log } = this.#environment;
    try {
      const upper = path.join(containerDirectory(directory, id), 'layer', 'upper');
      const use = await withDeadline(this.#closing, MEASURE_MILLISECONDS, (signal) =>
        measureTree(upper, { ...LIMITS, signal }),
      );
      known.use = { ...use, timestamp: nowNanoseconds(clock) };
    } catch (error) {
      if (!this.#closing.aborted)
        log.warn({ container: id, why: describeError(error) }, 'what a container has written is not known');
    }
    known.measuredAt = clock.elapsed();
    known.measuring = undefined;
  }
}
