/** StopPodSandbox and RemovePodSandbox. Both may be called at any time, many times and at once, also for unknown ids. */
import { describeError } from '@podwire/errors';
import { ErrorCollector } from '@podwire/platform';
import type { SandboxContext } from '../context.js';
import { isNotFound, type ListedContainer } from '../docker/index.js';
import { labelKeys, sandboxType } from '../labels.js';
import { parseName } from '../names.js';
import {
  detachSandbox,
  forgetSandbox,
  killContainer,
  removeContainer,
  type SandboxIdentity,
  stopSandboxContainer,
} from './teardown.js';
import { unpinSandbox } from './netns.js';

const idPattern = /^[0-9a-f]{64}$/;

/**
 * The whole id. People type the beginning of one, and Docker knows what they mean; a whole one that Docker does not tell of is
 * taken as it is, since it may be known from its checkpoint only. Undefined for what is no sandbox of this service, such as a
 * container of another one in the same engine.
 */
export async function resolveSandboxId(
  { docker, owners }: SandboxContext,
  id: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { Id, Config } = await docker.inspectContainer(id, {}, { signal });
    const isSandbox = Config.Labels?.[labelKeys.type] === sandboxType;
    return isSandbox && owners.owns(Id, Config.Labels) ? Id : undefined;
  } catch (error) {
    if (idPattern.test(id)) return id;
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * Workloads first, then DEL while the namespace is still pinned, then the sandbox: an address must not be handed out again
 * while a process can still send from it (kubernetes #105225). Goes on after errors. @throws one error, or an AggregateError
 */
export async function stopSandbox(context: SandboxContext, id: string, signal: AbortSignal): Promise<void> {
  const identity = await identifySandbox(context, id, signal);
  const errors = new ErrorCollector();
  await errors.collect(() => stopWorkloads(context, id, signal));
  context.faults.reach('stop:workloads:done');
  if (context.networkReady.get(id) !== false) {
    await errors.collect(() => detachSandbox(context, id, identity, signal));
  }
  await errors.collect(() => stopProcess(context, id, signal));
  errors.throwIfAny(`the sandbox ${id} could not be stopped`);
  unpinSandbox(context, id);
  context.faults.reach('stop:unpinned');
}

/** With the container gone the checkpoint has nothing to describe any more, once the network is free. */
async function stopProcess(context: SandboxContext, id: string, signal: AbortSignal): Promise<void> {
  const existed = await stopSandboxContainer(context, id, signal);
  if (existed || context.networkReady.get(id) !== false) return;
  unpinSandbox(context, id);
  await context.checkpoints.remove(id);
}

/** By Docker, else by the checkpoint, else not at all: then the call goes on with empty names. */
export async function identifySandbox(
  { docker, checkpoints }: SandboxContext,
  id: string,
  signal: AbortSignal,
): Promise<SandboxIdentity> {
  let inspection: unknown;
  try {
    const { Name, HostConfig } = await docker.inspectContainer(id, {}, { signal });
    const { pod = '', namespace = '' } = parseName(Name) ?? {};
    return { name: pod, namespace, hostNetwork: HostConfig.NetworkMode === 'host' };
  } catch (error) {
    if (!isNotFound(error)) inspection = error;
  }
  const checkpoint = await checkpoints.read(id).catch((error: unknown) => {
    throw inspection === undefined
      ? error
      : new AggregateError([inspection, error], `who is the sandbox ${id}`);
  });
  if (checkpoint !== undefined) {
    return { name: checkpoint.name, namespace: checkpoint.namespace, hostNetwork: checkpoint.host_network };
  }
  if (inspection !== undefined) {
    const missing = new Error(`there is no checkpoint of the sandbox ${id}`);
    throw new AggregateError([inspection, missing], `who is the sandbox ${id}`);
  }
  return { name: '', namespace: '', hostNetwork: false };
}

export function listWorkloads(
  { docker }: SandboxContext,
  sandboxId: string,
  signal: AbortSignal,
): Promise<readonly ListedContainer[]> {
  return docker.listContainers({ label: [`${labelKeys.sandboxId}=${sandboxId}`] }, { signal });
}

async function stopWorkloads(context: SandboxContext, id: string, signal: AbortSignal): Promise<void> {
  const workloads = await listWorkloads(context, id, signal);
  const errors = new ErrorCollector();
  const running = workloads.filter(({ State }) => State === 'running' || State === 'paused');
  await Promise.all(running.map((one) => errors.collect(() => stopWorkload(context, one.Id, signal))));
  errors.throwIfAny(`containers of the sandbox ${id} could not be stopped`);
}

/** At once: who wants them to have time stops them before (CRI: "forcibly terminated"). */
async function stopWorkload({ docker }: SandboxContext, id: string, signal: AbortSignal): Promise<void> {
  await killContainer(docker, id, signal).catch((cause: unknown) => {
    throw new Error(`the container ${id} cannot be stopped: ${describeError(cause)}`, { cause });
  });
}

/** Stops it first, so that nothing of it is left that could not be found again; then all of it goes, by force. */
export async function removeSandbox(context: SandboxContext, id: string, signal: AbortSignal): Promise<void> {
  await stopSandbox(context, id, signal);
  const errors = new ErrorCollector();
  for (const { Id } of await listWorkloads(context, id, signal)) {
    await errors.collect(() => removeContainer(context, Id, signal));
  }
  context.faults.reach('remove:workloads:done');
  errors.throwIfAny(`containers of the sandbox ${id} could not be removed`);
  await forgetSandbox(context, id, signal);
}
