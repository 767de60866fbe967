import { type Container, type ContainerStatus, type PodSandbox, type PodSandboxStatus } from '@podwire/cri';
import type { ObservedContainer, ObservedSandbox, ObservedState } from '../lifecycle/observed.js';
export declare function isReady(sandbox: Pick<PodSandbox, 'state'>): boolean;
export declare function stateOf(container: Pick<Container, 'state'>): ObservedState;
export declare function readSandbox(status: PodSandboxStatus): ObservedSandbox;
/** `sandboxId` is not part of a container's status: it is known from the listing, or from who created it. */
export declare function readContainer(status: ContainerStatus, sandboxId: string): ObservedContainer;
//# sourceMappingURL=observe.d.ts.map