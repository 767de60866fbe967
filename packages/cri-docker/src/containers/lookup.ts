import { CriError } from '@podwire/cri';
import { orUndefined } from '@podwire/platform';
import type { SandboxContext } from '../context.js';
import { type InspectedContainer, isNotFound, type ListedContainer } from '../docker/index.js';
import { containerType, labelKeys, sandboxType } from '../labels.js';

export type Own = Pick<SandboxContext, 'docker' | 'owners'>;

/** A container of a pod of this service; others in the same engine are none of ours. @throws CriError NOT_FOUND */
export function inspectOwn(own: Own, id: string, signal: AbortSignal): Promise<InspectedContainer> {
  return inspectOfType(own, id, signal, containerType, 'container');
}

/** A sandbox of this service. @throws CriError NOT_FOUND */
export function inspectSandbox(own: Own, id: string, signal: AbortSignal): Promise<InspectedContainer> {
  return inspectOfType(own, id, signal, sandboxType, 'sandbox');
}

async function inspectOfType(
  { docker, owners }: Own,
  id: string,
  signal: AbortSignal,
  type: string,
  what: string,
): Promise<InspectedContainer> {
  const found = await orUndefined(docker.inspectContainer(id, {}, { signal }), isNotFound);
  const labels = found?.Config.Labels;
  if (found !== undefined && labels?.[labelKeys.type] === type && owners.owns(found.Id, labels)) return found;
  throw new CriError('NOT_FOUND', `there is no ${what} ${id}`);
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
