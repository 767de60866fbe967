/**
 * What containers have written over their root directories. Measuring means a look at every file, so it goes on in the
 * background, one container at a time, and an answer is good for ten seconds (containerd's period for it).
 */
import { nowNanoseconds } from '@podwire/cri';
import path from 'node:path';
import { describeError } from '@podwire/errors';
import { measureTree, type TreeUse } from '@podwire/linux';
import type { Clock, Log } from './options.js';
import { containerDirectory } from './state/directory.js';

export interface LayerUse extends TreeUse {
  /** When it was measured, in nanoseconds since 1970. */
  readonly timestamp: bigint;
}

export interface Layers {
  /** What is known; undefined when the first measurement is still under way, or has failed. Never throws. */
  useOf(containerId: string): Promise<LayerUse | undefined>;
  forget(containerId: string): void;
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

export function createLayers(
  { directory, clock, log }: { readonly directory: string; readonly clock: Clock; readonly log: Log },
  closing: AbortSignal,
): Layers {
  const all = new Map<string, Known>();
  let last = Promise.resolve();

  const measure = async (id: string, known: Known): Promise<void> => {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(MEASURE_MILLISECONDS)]);
    try {
      const upper = path.join(containerDirectory(directory, id), 'layer', 'upper');
      known.use = { ...(await measureTree(upper, { ...LIMITS, signal })), timestamp: nowNanoseconds(clock) };
    } catch (error) {
      if (!closing.aborted)
        log.warn({ container: id, why: describeError(error) }, 'what a container has written is not known');
    }
    known.measuredAt = clock.elapsed();
    known.measuring = undefined;
  };

  const knownOf = (id: string): Known => {
    const known = all.get(id) ?? { use: undefined, measuredAt: -Infinity, measuring: undefined };
    all.set(id, known);
    return known;
  };

  return {
    async useOf(id) {
      const known = knownOf(id);
      if (clock.elapsed() - known.measuredAt < FRESH_MILLISECONDS) return known.use;
      known.measuring ??= last = last.then(() => measure(id, known));
      const enough = new AbortController();
      const waited = clock.sleep(WAIT_MILLISECONDS, enough.signal).catch(() => undefined);
      await Promise.race([known.measuring, waited]);
      enough.abort();
      return known.use;
    },
    forget: (id) => void all.delete(id),
  };
}
