import { type LinuxContainerSecurityContext, type LinuxSandboxSecurityContext, type NamespaceOption } from '@podwire/cri';
import type { PodletDirectories } from '../contract.js';
import type { ImageUser } from '../parts.js';
import { type Container, type Pod } from '@podwire/pod-spec';
type Directories = Pick<PodletDirectories, 'root'>;
/** The parts of /proc that are hidden and read-only by default: what runtimes agree on (moby, cri-o, kubelet). */
export declare const maskedPaths: readonly string[];
export declare const readonlyPaths: readonly string[];
export declare function namespaceOptions({ spec }: Pod): NamespaceOption;
export declare function sandboxSecurity(pod: Pod, directories: Directories): LinuxSandboxSecurityContext;
/**
 * The container's own words count before the pod's.
 * @throws PodwireError CONTAINER_CONFIG_INVALID when it must not run as root and would, or nobody knows
 */
export declare function containerSecurity(pod: Pod, container: Container, imageUser: ImageUser | undefined, directories: Directories): LinuxContainerSecurityContext;
export {};
//# sourceMappingURL=security.d.ts.map