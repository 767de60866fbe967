import type { Merger, SourceProblem } from '../contract.js';
import type { PodCheckpoints } from './pod-checkpoints.js';

/** A merger whose changes are written down as well. Nobody waits for that: a pod does not start later for its checkpoint. */
export function withCheckpoints(
  merger: Merger,
  checkpoints: Pick<PodCheckpoints, 'follow'>,
  onProblem: (problem: SourceProblem) => void,
): Merger {
  return {
    ...merger,
    merge(source, snapshot) {
      const updates = merger.merge(source, snapshot);
      void checkpoints.follow(updates).then((problems) => problems.forEach(onProblem));
      return updates;
    },
  };
}
