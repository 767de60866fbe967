/** Profiles that the kernel confines processes with: seccomp, AppArmor, SELinux. */
import { type SecurityProfile, SecurityProfile_ProfileType, type SELinuxOption } from '@podwire/cri';
import type { PodletDirectories } from '../contract.js';
import type { SeccompProfile } from '@podwire/pod-spec';

/** The source of a profile: a container's security context, or its pod's. */
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
export function requestProfiles(
  contexts: readonly Confined[],
  { root }: Pick<PodletDirectories, 'root'>,
): ProfileRequest {
  const seccomp = contexts.find(({ seccompProfile }) => seccompProfile !== undefined)?.seccompProfile;
  const apparmor = findFurther(contexts, 'appArmorProfile');
  const selinux = findFurther(contexts, 'seLinuxOptions');
  return {
    ...requestSeccomp(seccomp, `${root}/seccomp`),
    ...(apparmor !== undefined && {
      apparmor: toProfile(textOf(apparmor, 'type'), textOf(apparmor, 'localhostProfile')),
    }),
    ...(selinux !== undefined && { selinuxOptions: toSelinux(selinux) }),
  };
}

function requestSeccomp(
  profile: SeccompProfile | undefined,
  directory: string,
): Pick<ProfileRequest, 'seccomp' | 'seccompProfilePath'> {
  if (profile === undefined) return { seccompProfilePath: '' };
  const { type, localhostProfile } = profile;
  const file = `${directory}/${localhostProfile ?? ''}`;
  const paths = {
    RuntimeDefault: 'runtime/default',
    Unconfined: 'unconfined',
    Localhost: `localhost/${file}`,
  };
  return { seccomp: toProfile(type, file), seccompProfilePath: paths[type] };
}

const profileTypes: Readonly<Record<string, SecurityProfile_ProfileType>> = {
  RuntimeDefault: SecurityProfile_ProfileType.RuntimeDefault,
  Unconfined: SecurityProfile_ProfileType.Unconfined,
  Localhost: SecurityProfile_ProfileType.Localhost,
};

/** An unknown type gets the default profile, rather than none. */
function toProfile(type: string, localhostRef: string): SecurityProfile {
  const profileType = profileTypes[type] ?? SecurityProfile_ProfileType.RuntimeDefault;
  return { profileType, localhostRef: type === 'Localhost' ? localhostRef : '' };
}

function toSelinux(options: Further): SELinuxOption {
  const text = (name: string) => textOf(options, name);
  return { user: text('user'), role: text('role'), type: text('type'), level: text('level') };
}

/** Fields of the API that are passed on as they stand. */
type Further = Readonly<Record<string, unknown>>;

function findFurther(contexts: readonly object[], name: string): Further | undefined {
  const values = contexts.map((context) => (context as Further)[name]);
  return values.find((value): value is Further => typeof value === 'object' && value !== null);
}

function textOf(further: Further, name: string): string {
  const value = further[name];
  return typeof value === 'string' ? value : '';
}
