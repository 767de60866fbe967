import { CriError } from '@podwire/cri';
import { type Docker, type InspectedContainer, isNotFound } from '../docker/index.js';
import { containerType, labelKeys } from '../labels.js';

/** A container of a pod; others in the same engine are none of ours. @throws CriError NOT_FOUND */
export async function inspectOwn(
  docker: Docker,
  id: string,
  signal: AbortSignal,
  options: { readonly size?: boolean } = {},
): Promise<InspectedContainer> {
  const found = await docker.inspectContainer(id, options, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (found?.Config.Labels?.[labelKeys.type] === containerType) return found;
  throw new CriError('NOT_FOUND', `there is no container ${id}`);
}

/** @throws CriError NOT_FOUND, FAILED_PRECONDITION when it does not run */
export async function inspectRunning(
  docker: Docker,
  id: string,
  signal: AbortSignal,
): Promise<InspectedContainer> {
  const found = await inspectOwn(docker, id, signal);
  if (found.State.Running) return found;
  throw new CriError('FAILED_PRECONDITION', `the container ${id} is not running`);
}
