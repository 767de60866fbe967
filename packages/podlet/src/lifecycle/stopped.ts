import type { Pod } from '@podwire/pod-spec';
import type { Waiting } from './container-status.js';

/** Written on pods that were stopped by name: since when. */
export const stoppedAnnotation = 'podwire.io/stopped';

export function isStopped({ metadata }: Pod): boolean {
  return metadata.annotations[stoppedAnnotation] !== undefined;
}

/** The pod has failed by it, so that everything of it is stopped and kept: status, ended containers, logs. */
export const stopped: Waiting = {
  reason: 'Stopped',
  message: '`podwire restart` runs it again',
};
