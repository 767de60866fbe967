import { PodwireError } from '@podwire/errors';
import { isAlive } from '../lifecycle/observed.js';
import { podName } from '@podwire/pod-spec';
import { readLastWords } from './last-words.js';
import { type Step, telling } from './step.js';
import { collectGarbage, stopPod } from './stop-pod.js';

/**
 * Takes a pod down and removes everything of it: containers, sandboxes, directories. Idempotent: what an interrupted
 * attempt has left is found and finished by the next.
 * @throws what could not be stopped or removed; it has to be called again then
 */
export async function terminatePod(step: Step): Promise<void> {
  const { worker, view } = step;
  worker.stage = 'terminating';
  worker.sandboxProblem = undefined;
  step.show();
  // A creation that was given up may have come to be; what the listing does not show yet is caught at the end.
  await view.refreshPod(worker.uid, step.signal);
  tellKilling(step);
  await stopPod(step);
  step.prober.forget(worker.uid);
  worker.waiting.clear();
  worker.interrupted.clear();
  worker.ended = true;
  await readLastWords(step);
  step.show();
  await telling(step, 'FailedCleanUp', 'error removing what is left of the pod', () => removeAll(step));
  worker.stage = 'terminated';
  worker.gone = true;
  step.show();
}

function tellKilling(step: Step): void {
  for (const container of step.view.observed(step.worker.uid).containers.filter(isAlive)) {
    step.tell('Normal', 'Killing', `Stopping container ${container.name}`);
  }
}

async function removeAll(step: Step): Promise<void> {
  const { worker, view, preparation } = step;
  await collectGarbage(step, false);
  await view.refreshPod(worker.uid, step.signal);
  const left = view.observed(worker.uid);
  if (left.sandboxes.length + left.containers.length > 0) {
    throw new PodwireError(
      'REMOVE_INCOMPLETE',
      `Pod ${podName(worker.pod)} still has something in the runtime.`,
    );
  }
  step.faults.at('before discard');
  await preparation.discard(worker.uid);
  step.faults.at('after discard');
}
