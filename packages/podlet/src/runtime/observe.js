import { ContainerState, NamespaceMode, PodSandboxState, } from '@podwire/cri';
import { compact } from '@podwire/platform';
import { containerAnnotations } from '../runtime-config/identity.js';
/** CRI messages reduced to what decisions need. */
const nanosecondsPerMillisecond = 1000000n;
export function isReady(sandbox) {
    return sandbox.state === PodSandboxState.SANDBOX_READY;
}
export function stateOf(container) {
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
export function readSandbox(status) {
    const addresses = [status.network?.ip ?? '', ...(status.network?.additionalIps ?? []).map(({ ip }) => ip)];
    return {
        id: status.id,
        attempt: status.metadata?.attempt ?? 0,
        ready: isReady(status),
        createdAt: toMilliseconds(status.createdAt),
        hostNetwork: status.linux?.namespaces?.options?.network === NamespaceMode.NODE,
        addresses: addresses.filter((address) => address !== ''),
    };
}
/** `sandboxId` is not part of a container's status: it is known from the listing, or from who created it. */
export function readContainer(status, sandboxId) {
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
function toMilliseconds(nanoseconds) {
    return nanoseconds <= 0n ? 0 : Number(nanoseconds / nanosecondsPerMillisecond);
}
//# sourceMappingURL=observe.js.map