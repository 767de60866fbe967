/** Containers as the interface shows them. */
import { Container, ContainerState, ContainerStatus, type LinuxContainerResources } from '@podwire/cri';
import type { Context } from '../context.js';
import type { ContainerEntry } from '../state/inventory.js';
import { logPathOf } from './plan.js';

export function stateOfContainer(entry: ContainerEntry): ContainerState {
  if (entry.state?.end !== undefined) return ContainerState.CONTAINER_EXITED;
  if (entry.shim !== undefined) return ContainerState.CONTAINER_RUNNING;
  // Started once, and its exit status is unknown: a reboot, or the shim was killed.
  return entry.ended === undefined ? ContainerState.CONTAINER_CREATED : ContainerState.CONTAINER_EXITED;
}

interface Outcome {
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  readonly finishedAt: bigint;
}

const unfinished: Outcome = { exitCode: 0, reason: '', message: '', finishedAt: 0n };

function outcomeOf(entry: ContainerEntry): Outcome {
  if (stateOfContainer(entry) !== ContainerState.CONTAINER_EXITED) return unfinished;
  const end = entry.state?.end;
  if (end === undefined) {
    const message = 'exit status unknown';
    const finishedAt = entry.state?.startedAt ?? entry.record.createdAt;
    return { exitCode: 255, reason: 'Unknown', message, finishedAt };
  }
  const { code: exitCode, finishedAt, error } = end;
  if (error !== undefined) return { exitCode, reason: 'StartError', message: error, finishedAt };
  return { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', message: '', finishedAt };
}

export function statusOfContainer(context: Context, entry: ContainerEntry): ContainerStatus {
  const { id, sandboxId, config, createdAt, imageRef } = entry.record;
  const { metadata, image, labels, annotations, mounts } = config;
  const sandbox = context.inventory.sandboxes.get(sandboxId)?.record;
  const linux: LinuxContainerResources | undefined = config.linux?.resources;
  return ContainerStatus.fromPartial({
    ...{ id, metadata, image, imageRef, imageId: imageRef, labels, annotations, mounts, createdAt },
    state: stateOfContainer(entry),
    startedAt: entry.state?.startedAt ?? 0n,
    ...outcomeOf(entry),
    logPath: (sandbox === undefined ? undefined : logPathOf(config, sandbox)) ?? '',
    ...(linux === undefined ? {} : { resources: { linux } }),
  });
}

export function showContainer(entry: ContainerEntry): Container {
  const { id, sandboxId, config, createdAt, imageRef } = entry.record;
  const { metadata, image, labels, annotations } = config;
  return Container.fromPartial({
    ...{ id, metadata, image, imageRef, imageId: imageRef, labels, annotations, createdAt },
    podSandboxId: sandboxId,
    state: stateOfContainer(entry),
  });
}
