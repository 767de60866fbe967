/** Making the container of a sandbox or of a workload, also where another one has its name. */
import type { SandboxContext } from '../context.js';
import type { Work } from '../call.js';
import { type CreateConfig, isConflict, isNotFound } from '../docker/index.js';
import { randomSuffix } from '../names.js';

export interface Created {
  readonly id: string;
  /** It was there before, and is what is asked for. */
  readonly existed: boolean;
}

/** How to treat the container that has the name: take it as it is, clear it out of the way first, or neither. */
export type NameConflictDecision = 'take' | 'cleared' | 'unknown';

export interface Creation {
  readonly name: string;
  readonly config: CreateConfig;
  /** Looks at the container that has the name already. */
  readonly decide: (id: string) => Promise<NameConflictDecision>;
}

const conflictPattern = /Conflict\..*already in use by container "?([0-9a-f]+)"?/s;

/** @throws the engine's error */
export async function createContainer(
  context: SandboxContext,
  creation: Creation,
  work: Work,
): Promise<Created> {
  const { docker } = context;
  const create = async (name: string): Promise<Created> => ({
    id: await docker.createContainer(name, creation.config, { signal: work.signal }),
    existed: false,
  });
  try {
    return await create(creation.name);
  } catch (error) {
    const owner = conflictingContainer(error);
    if (owner === undefined) throw error;
    context.log.warn({ name: creation.name, owner }, 'the name of a new container is taken');
    return await recoverFromConflict(context, creation, { owner, error, create });
  }
}

/** The id of the container that has the name. */
function conflictingContainer(error: unknown): string | undefined {
  return isConflict(error) ? conflictPattern.exec((error as Error).message)?.[1] : undefined;
}

interface Conflict {
  readonly owner: string;
  readonly error: unknown;
  readonly create: (name: string) => Promise<Created>;
}

/**
 * Removes the container that has the name, without force: one that runs is in use. Then it is tried once more; dockershim
 * left that to the next sync of the pod. If Docker says that there is no such container, its list of names is out of step
 * with its containers, and only another name helps.
 */
async function recoverFromConflict(
  context: SandboxContext,
  { name, decide }: Creation,
  { owner, error, create }: Conflict,
): Promise<Created> {
  const decision = await decide(owner);
  if (decision === 'take') return { id: owner, existed: true };
  if (decision === 'cleared') return create(name);
  context.faults.reach('create:conflict');
  try {
    await context.docker.removeContainer(owner, { force: false });
  } catch (removal) {
    if (isNotFound(removal)) return create(`${name}_${randomSuffix(context.random)}`);
    context.log.warn({ name, owner, err: removal }, 'the container that has the name cannot be removed');
    throw error;
  }
  return create(name);
}
