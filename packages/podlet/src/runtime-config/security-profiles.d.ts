/** Profiles that the kernel confines processes with: seccomp, AppArmor, SELinux. */
import { type SecurityProfile, type SELinuxOption } from '@podwire/cri';
import type { PodletDirectories } from '../contract.js';
import type { SeccompProfile } from '@podwire/pod-spec';
/** What says how to confine: a container's security context, or its pod's. */
export interface Confined {
    readonly seccompProfile?: SeccompProfile;
}
/** Both forms: runtimes before CRI 1.20 read the path only. Absent where nothing is asked for: the runtime's choice. */
export interface ProfileRequest {
    readonly seccomp?: SecurityProfile;
    readonly seccompProfilePath: string;
    readonly apparmor?: SecurityProfile;
    readonly selinuxOptions?: SELinuxOption;
}
/** The first context that says something of a kind decides it: the container's, then the pod's. */
export declare function requestProfiles(contexts: readonly Confined[], { root }: Pick<PodletDirectories, 'root'>): ProfileRequest;
//# sourceMappingURL=security-profiles.d.ts.map