import {
  type Container,
  ContainerState,
  type ContainerStatus,
  NamespaceMode,
  type PodSandbox,
  PodSandboxState,
  type PodSandboxStatus,
} from '@podwire/cri';
import { firstOfEachFamily } from '@podwire/addresses';
import { compact } from '@podwire/platform';
import type { ObservedContainer, ObservedSandbox, ObservedState } from '../lifecycle/observed.js';
import { containerAnnotations } from '../runtime-config/identity.js';

/** CRI messages reduced to what decisions need. */

const nanosecondsPerMillisecond = 1_000_000n;

export function isReady(sandbox: Pick<PodSandbox, 'state'>): boolean {
  return sandbox.state === PodSandboxState.SANDBOX_READY;
}

export function stateOf(container: Pick<Container, 'state'>): ObservedState {
  switch (container.state) {
    case ContainerState.CONTAINER_CREATED:
      return 'created';
    case ContainerState.CONTAINER_RUNNING:
      return 'running';
    case ContainerState.CONTAINER_EXITED:
      return 'exited';
    default:
      return 'unknown';
  }
}

export function readSandbox(status: PodSandboxStatus): ObservedSandbox {
  const addresses = [status.network?.ip ?? '', ...(status.network?.additionalIps ?? []).map(({ ip }) => ip)];
  return {
    id: status.id,
    attempt: status.metadata?.attempt ?? 0,
    ready: isReady(status),
    createdAt: toMilliseconds(status.createdAt),
    hostNetwork: status.linux?.namespaces?.options?.network === NamespaceMode.NODE,
    // A CNI result may have several of a family; the API takes one, and refuses a status with more as a whole.
    addresses: firstOfEachFamily(addresses.filter((address) => address !== '')),
  };
}

/** `sandboxId` is not part of a container's status: it is known from the listing, or from who created it. */
export function readContainer(status: ContainerStatus, sandboxId: string): ObservedContainer {
  const hash = status.annotations[containerAnnotations.hash];
  return {
    id: status.id,
    name: status.metadata?.name ?? '',
    sandboxId,
    attempt: status.metadata?.attempt ?? 0,
    state: stateOf(status),
    createdAt: toMilliseconds(status.createdAt),
    startedAt: toMilliseconds(status.startedAt),
    finishedAt: toMilliseconds(status.finishedAt),
    exitCode: status.exitCode,
    reason: status.reason,
    message: status.message,
    image: status.image?.image ?? '',
    imageRef: status.imageRef,
    logPath: status.logPath,
    ...compact({ specHash: hash }),
  };
}

function toMilliseconds(nanoseconds: bigint): number {
  return nanoseconds <= 0n ? 0 : Number(nanoseconds / nanosecondsPerMillisecond);
}
