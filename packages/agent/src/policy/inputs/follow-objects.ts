import type { ObjectBatch, ObjectSource } from '@podwire/objects';
import { type Clock, pause } from '@podwire/platform';

export interface FollowObjectsOptions {
  readonly source: ObjectSource;
  readonly clock: Clock;
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly take: (batch: ObjectBatch) => void;
  /** It is cut off; `undefined`: it is back. */
  readonly onInterruption: (error: unknown) => void;
}

/** Milliseconds until a watch that has ended is begun again. */
const watchPause = 1_000;

/** Follows a source for as long as the agent runs. Never rejects. */
export async function followObjects(options: FollowObjectsOptions): Promise<void> {
  const { source, clock, signal, take, onInterruption } = options;
  while (!signal.aborted) {
    try {
      for await (const batch of source.watch({ signal, onInterruption })) {
        onInterruption(undefined);
        take(batch);
      }
    } catch (error) {
      if (!signal.aborted) onInterruption(error);
    }
    await pause(clock, watchPause, signal);
  }
}
