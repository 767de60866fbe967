/**
 * Profiles in annotations, the fields' predecessors: seccomp before Kubernetes 1.19, AppArmor before 1.30. A manifest of then means
 * them, so they count where the field says nothing.
 */
import { compact } from '@podwire/platform';
import type { Pod, SeccompProfile } from '@podwire/pod-spec';

const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';
const seccompPrefix = 'container.seccomp.security.alpha.kubernetes.io/';
const seccompOfPod = 'seccomp.security.alpha.kubernetes.io/pod';

type Annotated = Pick<Pod, 'metadata' | 'spec'>;

export interface Profiles {
  readonly seccompProfile?: SeccompProfile;
  readonly appArmorProfile?: SeccompProfile;
}

export function podAnnotationProfiles({ metadata }: Pick<Pod, 'metadata'>): Profiles {
  const seccompProfile = parseProfile(metadata.annotations[seccompOfPod]);
  return seccompProfile === undefined ? {} : { seccompProfile };
}

export function containerAnnotationProfiles({ metadata }: Pick<Pod, 'metadata'>, name: string): Profiles {
  const seccompProfile = parseProfile(metadata.annotations[seccompPrefix + name]);
  const appArmorProfile = parseProfile(metadata.annotations[appArmorPrefix + name]);
  return compact({ seccompProfile, appArmorProfile });
}

/** @returns undefined for what is no profile; {@link findBadAnnotation} has said so before anything begins */
function parseProfile(text: string | undefined): SeccompProfile | undefined {
  if (text === 'runtime/default' || text === 'docker/default') return { type: 'RuntimeDefault' };
  if (text === 'unconfined') return { type: 'Unconfined' };
  const localhostProfile = /^localhost\/(.+)$/.exec(text ?? '')?.[1];
  if (localhostProfile === undefined || localhostProfile.split('/').includes('..')) return undefined;
  return { type: 'Localhost', localhostProfile };
}

export interface BadAnnotation {
  readonly kind: 'AppArmor' | 'Seccomp';
  readonly message: string;
}

/** A request for confinement that cannot be read, or names no container of the pod, must not be ignored. */
export function findBadAnnotation({ metadata, spec }: Annotated): BadAnnotation | undefined {
  const names = [...spec.initContainers, ...spec.containers].map(({ name }) => name);
  for (const [key, value] of Object.entries(metadata.annotations)) {
    const prefix = [appArmorPrefix, seccompPrefix].find((each) => key.startsWith(each));
    if (prefix === undefined && key !== seccompOfPod) continue;
    const kind = prefix === appArmorPrefix ? 'AppArmor' : 'Seccomp';
    const name = key.slice(prefix?.length ?? key.length);
    if (prefix !== undefined && !names.includes(name)) {
      return { kind, message: `annotation ${key}: the pod has no container ${name}` };
    }
    if (value !== '' && parseProfile(value) === undefined) {
      return { kind, message: `annotation ${key}: ${JSON.stringify(value.slice(0, 80))} is no profile` };
    }
  }
  return undefined;
}
