import type { PodSandboxConfig } from '@podwire/cri';
import { describeError, PodwireError } from '@podwire/errors';
import type { Container } from '@podwire/pod-spec';
import { callRuntime, type Step } from './step.js';

export type ImageResult =
  { readonly kind: 'there'; readonly ref: string } | { readonly kind: 'paused'; readonly pause: number };

/** The image of a container, with pauses that double after each failure. The status says which. */
export async function haveImage(
  step: Step,
  sandbox: PodSandboxConfig,
  container: Container,
): Promise<ImageResult> {
  const pause = remainingPause(step, container);
  if (pause > 0) return { kind: 'paused', pause };
  try {
    const ref = await callRuntime(step, 'EnsureImage', () =>
      step.ensureImage(step.runtime, step.worker.pod, container, sandbox, step.signal),
    );
    step.worker.images.delete(container.image);
    step.worker.imagePauses.forget(container.image);
    return { kind: 'there', ref };
  } catch (error) {
    return { kind: 'paused', pause: noteFailure(step, container, error) };
  }
}

function remainingPause({ worker, clock }: Step, { name, image }: Container): number {
  const failure = worker.images.get(image);
  if (failure === undefined) return 0;
  const remaining = worker.imagePauses.remaining(image, failure.at, clock.now());
  if (remaining > 0) worker.waiting.set(name, backingOff(failure.waiting, image));
  return remaining;
}

/** A name that cannot be one, and an image that may not be pulled, are shown as they are all the time. */
function backingOff(waiting: { readonly reason: string; readonly message?: string }, image: string) {
  if (waiting.reason !== 'ErrImagePull' && waiting.reason !== 'RegistryUnavailable') return waiting;
  const why = waiting.message === undefined ? '' : `: ${waiting.message}`;
  return { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"${why}` };
}

function noteFailure(step: Step, container: Container, error: unknown): number {
  if (step.signal.aborted) throw error;
  const { worker, clock } = step;
  const waiting = { reason: reasonOf(error), message: describeError(error) };
  worker.images.set(container.image, { at: clock.now(), waiting });
  worker.imagePauses.next(container.image, clock.now());
  worker.waiting.set(container.name, waiting);
  step.tell(
    'Warning',
    'Failed',
    `Failed to pull image "${container.image}" of container ${container.name}: ${waiting.message}`,
  );
  // Looked at again soon, so that the status goes from the error to the pause after it, as people know it.
  return Math.min(step.settings.syncMs, worker.imagePauses.pause(container.image));
}

function reasonOf(error: unknown): string {
  const reason = error instanceof PodwireError ? error.details.reason : undefined;
  return typeof reason === 'string' ? reason : 'ErrImagePull';
}
