/** Making, starting, stopping and removing containers of a pod. */
import { type CreateContainerRequest, CriError, isCriError } from '@podwire/cri';
import { describeError } from '@podwire/errors';
import { orUndefined } from '@podwire/platform';
import type { SandboxContext } from '../context.js';
import type { Work } from '../call.js';
import { isNotFound } from '../docker/index.js';
import { makeContainerName, parseName, podKey } from '../names.js';
import { createContainer, type NameConflictDecision } from '../sandboxes/create.js';
import { killContainer, removeContainer as removeByForce } from '../sandboxes/teardown.js';
import { makeContainerConfig } from './config.js';
import { inspectOwn, inspectSandbox } from './lookup.js';
import type { ContainerLogs } from './logs/logs.js';

/**
 * Under the pod's lock, so that none appears in a sandbox that is being stopped.
 * @throws CriError NOT_FOUND, FAILED_PRECONDITION when the sandbox is not ready
 */
export async function createWorkload(
  context: SandboxContext,
  { podSandboxId, config, sandboxConfig }: CreateContainerRequest,
  work: Work,
): Promise<string> {
  if (config === undefined) throw new CriError('INVALID_ARGUMENT', 'config is missing');
  const found = await inspectSandbox(context, podSandboxId, work.signal);
  const { pod = '', namespace = '', uid = '' } = parseName(found.Name) ?? {};
  return context.locks.withKey(podKey(namespace, pod), work.signal, async () => {
    const sandbox = await inspectSandbox(context, podSandboxId, work.signal);
    if (!sandbox.State.Running) {
      throw new CriError('FAILED_PRECONDITION', `the sandbox ${podSandboxId} is not running`);
    }
    const metadata = sandboxConfig?.metadata ?? { name: pod, namespace, uid };
    const name = makeContainerName(metadata, config.metadata);
    const body = await makeContainerConfig(config, sandboxConfig, {
      sandboxId: sandbox.Id,
      hostNetwork: sandbox.HostConfig.NetworkMode === 'host',
      runtime: sandbox.HostConfig.Runtime,
      cgroupDriver: await context.cgroupDriver(work.signal),
      ownerLabel: context.owners.label,
      leastOomScoreAdj: context.settings.leastOomScoreAdj,
    });
    const decide = (): Promise<NameConflictDecision> => Promise.resolve('unknown');
    return (await createContainer(context, { name, config: body, decide }, work)).id;
  });
}

/** Under the pod's lock too: one that starts while its sandbox is stopped would live on in a network that is given back. */
export async function startWorkload(
  context: SandboxContext,
  logs: ContainerLogs,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const { Name } = await inspectOwn(context, id, signal);
  const { pod = '', namespace = '' } = parseName(Name) ?? {};
  await context.locks.withKey(podKey(namespace, pod), signal, () => startOnce(context, logs, id, signal));
}

/** The log is there before the container runs. */
async function startOnce(
  context: SandboxContext,
  logs: ContainerLogs,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const { docker } = context;
  const found = await inspectOwn(context, id, signal);
  // Docker would start one again that has ended; in the interface a container lives once.
  if (found.State.Status !== 'created') {
    throw new CriError(
      'FAILED_PRECONDITION',
      `the container ${id} was started already (${found.State.Status})`,
    );
  }
  await logs.prepare(found);
  try {
    await docker.startContainer(found.Id, { signal });
  } catch (cause) {
    throw new CriError('UNKNOWN', `failed to start the container ${id}: ${describeError(cause)}`, { cause });
  } finally {
    logs.follow(found);
  }
}

/** One that has ended or is gone is fine. */
export async function stopWorkload(
  context: SandboxContext,
  id: string,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  const { docker } = context;
  try {
    const found = await inspectOwn(context, id, signal);
    if (!found.State.Running) return;
    // With no time at all Docker still sends SIGTERM first, and the program may be quick.
    if (seconds === 0) await killContainer(docker, found.Id, signal);
    else await docker.stopContainer(found.Id, seconds, { signal, timeoutMs: (seconds + 120) * 1000 });
  } catch (error) {
    if (!isNotFound(error) && !isGone(error)) throw error;
  }
}

const isGone = (error: unknown): boolean => isCriError(error, 'NOT_FOUND');

export async function removeWorkload(
  context: SandboxContext,
  logs: ContainerLogs,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const found = await orUndefined(inspectOwn(context, id, signal), isGone);
  if (found === undefined) return;
  await logs.finish(found.Id);
  await removeByForce(context, found.Id, signal);
}
