import type { Pod, SeccompProfile } from '@podwire/pod-spec';
type Annotated = Pick<Pod, 'metadata' | 'spec'>;
export interface Profiles {
    readonly seccompProfile?: SeccompProfile;
    readonly appArmorProfile?: SeccompProfile;
}
export declare function podAnnotationProfiles({ metadata }: Pick<Pod, 'metadata'>): Profiles;
export declare function containerAnnotationProfiles({ metadata }: Pick<Pod, 'metadata'>, name: string): Profiles;
export interface BadAnnotation {
    readonly kind: 'AppArmor' | 'Seccomp';
    readonly message: string;
}
/** A wish for confinement that cannot be read, or is for no container of the pod, must not be passed over. */
export declare function findBadAnnotation({ metadata, spec }: Annotated): BadAnnotation | undefined;
export {};
//# sourceMappingURL=profile-annotations.d.ts.map