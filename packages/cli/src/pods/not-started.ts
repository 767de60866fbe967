/** Errors of commands that need more of a pod than there is: with the reason, and where to find out more. */
import { PodwireError } from '@podwire/errors';
import { ApiError, type LocalApi } from '@podwire/local-api';
import type { PodView } from '@podwire/podlet';
import { findPod, fullName } from './names.js';
import { findReason } from './reason.js';

/** @param what has not been started: `container a of pod shop/web` */
export function notStarted(pod: PodView, what: string): PodwireError {
  return new PodwireError('POD_NOT_RUNNING', `${what} has not been started yet${whyOf(pod)}`, {
    action: `\`podwire describe pod/${fullName(pod)}\` says more.`,
  });
}

function whyOf(pod: PodView): string {
  const found = findReason(pod);
  if (found === undefined) return '';
  return `: ${found.reason}${found.message === undefined ? '' : `: ${found.message}`}`;
}

/**
 * The pod agent may know a pod that the node agent does not: a pod whose network could not be made.
 * @returns the error of the node agent when it does not, or does not answer
 */
export async function explainUnknown(error: unknown, podAgent: LocalApi, target: string): Promise<unknown> {
  if (!(error instanceof ApiError && error.failure.code === 'ENDPOINT_UNKNOWN')) return error;
  try {
    const pod = await findPod(podAgent, target);
    const name = fullName(pod);
    return new PodwireError('ENDPOINT_UNKNOWN', `pod ${name} is not attached to a network${whyOf(pod)}`, {
      action: `\`podwire describe pod/${name}\` says more.`,
    });
  } catch (other) {
    if (other instanceof PodwireError) return error;
    throw other;
  }
}

/** Next steps for pods that are not ready in time; pure. */
export function renderUnready(pods: readonly PodView[]): string[] {
  if (pods.length === 0) return [];
  const lines = pods.flatMap((pod) => [
    `pod/${fullName(pod)} is not ready${whyOf(pod)}`,
    `  podwire describe pod/${fullName(pod)}   says more`,
  ]);
  const origins = [...new Set(pods.flatMap(({ origin }) => origin ?? []))];
  return [...lines, ...origins.map((origin) => `  podwire down ${origin}   takes it down`)];
}
