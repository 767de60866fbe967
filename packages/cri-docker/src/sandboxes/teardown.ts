/** Takes a sandbox off its network and stops it: after a failure, after a crash, and when it is asked for. */
import { describeError } from '@podwire/errors';
import { compact, ErrorCollector } from '@podwire/platform';
import type { SandboxContext } from '../context.js';
import { type Docker, isConflict, isNotFound } from '../docker/index.js';
import { pinnedNetns, unpinSandbox } from './netns.js';

/** Seconds that the process of a sandbox gets; it ends at once unless something is very wrong. */
export const sandboxGraceSeconds = 10;

/** The pod of a sandbox, as far as it is known. Empty names: neither container nor checkpoint is left. */
export interface SandboxIdentity {
  readonly name: string;
  readonly namespace: string;
  readonly hostNetwork: boolean;
}

/**
 * Frees everything of a sandbox whose start was not finished: addresses, namespace, process, and with `keepContainer: false`
 * the container and its checkpoint as well. It goes on after errors. @throws the only error or an AggregateError
 */
export async function teardownSandbox(
  context: SandboxContext,
  id: string,
  { keepContainer }: { readonly keepContainer: boolean },
): Promise<void> {
  const signal = AbortSignal.timeout(context.settings.cleanupTimeoutMs);
  const errors = new ErrorCollector();
  let identity: SandboxIdentity = { name: '', namespace: '', hostNetwork: false };
  await errors.collect(async () => {
    const checkpoint = await context.checkpoints.read(id);
    if (checkpoint !== undefined) identity = { ...checkpoint, hostNetwork: checkpoint.host_network };
  });
  await errors.collect(() => detachSandbox(context, id, identity, signal));
  await errors.collect(() => stopSandboxContainer(context, id, signal));
  errors.throwIfAny(`the sandbox ${id} could not be taken down`);
  unpinSandbox(context, id);
  context.faults.reach('teardown:unpinned');
  if (!keepContainer) await forgetSandbox(context, id, signal);
}

/** DEL, while the namespace is pinned. After a failure the remains are unknown, so the next Stop does it again. */
export async function detachSandbox(
  context: SandboxContext,
  id: string,
  { name, namespace, hostNetwork }: SandboxIdentity,
  signal: AbortSignal,
): Promise<void> {
  if (hostNetwork) return;
  context.networkReady.delete(id);
  const netns = pinnedNetns(context, id);
  const pod = { namespace, name, sandboxId: id, ...compact({ netns }) };
  context.faults.reach('detach');
  await context.network.tearDown(pod, { signal });
  context.networkReady.set(id, false);
  context.faults.reach('detach:done');
}

/** @returns whether there was a container. */
export async function stopSandboxContainer(
  context: SandboxContext,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await context.docker.stopContainer(id, sandboxGraceSeconds, { signal });
    context.faults.reach('stop:sandbox:done');
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw new Error(`the container of sandbox ${id} cannot be stopped: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** Removes container and checkpoint, in this order: as long as the checkpoint is there, everything can be found again. */
export async function forgetSandbox(context: SandboxContext, id: string, signal: AbortSignal): Promise<void> {
  await removeContainer(context, id, signal);
  context.faults.reach('forget:removed');
  await context.checkpoints.remove(id);
  context.networkReady.delete(id);
}

/** By force; one that is gone is fine, and so is one that Docker is removing already. */
export async function removeContainer(
  { docker }: SandboxContext,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await docker.removeContainer(id, { force: true }, { signal });
  } catch (error) {
    if (isNotFound(error) || /removal of container .* is already in progress/i.test(describeError(error)))
      return;
    throw error;
  }
}

/** SIGKILL. One that has ended meanwhile is fine. */
export async function killContainer(docker: Docker, id: string, signal: AbortSignal): Promise<void> {
  try {
    await docker.killContainer(id, { signal });
  } catch (error) {
    if (isNotFound(error) || (isConflict(error) && /is not running/.test(describeError(error)))) return;
    throw error;
  }
}
