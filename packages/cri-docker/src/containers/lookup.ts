import { CriError } from '@podwire/cri';
import type { SandboxContext } from '../context.js';
import { type InspectedContainer, isNotFound, type ListedContainer } from '../docker/index.js';
import { containerType, labelKeys } from '../labels.js';

export type Own = Pick<SandboxContext, 'docker' | 'owners'>;

/** A container of a pod of this service; others in the same engine are none of ours. @throws CriError NOT_FOUND */
export async function inspectOwn(
  { docker, owners }: Own,
  id: string,
  signal: AbortSignal,
  options: { readonly size?: boolean } = {},
): Promise<InspectedContainer> {
  const found = await docker.inspectContainer(id, options, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const labels = found?.Config.Labels;
  if (found !== undefined && labels?.[labelKeys.type] === containerType && owners.owns(found.Id, labels)) {
    return found;
  }
  throw new CriError('NOT_FOUND', `there is no container ${id}`);
}

/** @throws CriError NOT_FOUND, FAILED_PRECONDITION when it does not run */
export async function inspectRunning(own: Own, id: string, signal: AbortSignal): Promise<InspectedContainer> {
  const found = await inspectOwn(own, id, signal);
  if (found.State.Running) return found;
  throw new CriError('FAILED_PRECONDITION', `the container ${id} is not running`);
}

/** Sandboxes or containers of this service that the engine finds with these filters. */
export async function listOwn(
  { docker, owners }: Own,
  filters: Readonly<Record<string, readonly string[]>>,
  signal: AbortSignal,
): Promise<readonly ListedContainer[]> {
  const listed = await docker.listContainers(filters, { signal });
  return listed.filter(({ Id, Labels }) => owners.owns(Id, Labels));
}
