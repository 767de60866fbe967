import { PodwireError } from '@podwire/errors';
import {
  type LinuxContainerSecurityContext,
  type LinuxSandboxSecurityContext,
  NamespaceMode,
  type NamespaceOption,
  SecurityProfile_ProfileType,
} from '@podwire/cri';
import type { PodletDirectories } from '../contract.js';
import type { ImageUser } from '../parts.js';
import { type Container, type Pod, podName } from '@podwire/pod-spec';
import { containerAnnotationProfiles, podAnnotationProfiles } from './profile-annotations.js';
import { requestProfiles } from './security-profiles.js';

type Directories = Pick<PodletDirectories, 'root'>;

/** The parts of /proc that are hidden and read-only by default: what runtimes agree on (moby, cri-o, kubelet). */
export const maskedPaths: readonly string[] = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
export const readonlyPaths: readonly string[] = [
  '/proc/bus',
  '/proc/fs',
  '/proc/irq',
  '/proc/sys',
  '/proc/sysrq-trigger',
];

export function namespaceOptions({ spec }: Pod): NamespaceOption {
  const { NODE, POD, CONTAINER } = NamespaceMode;
  const shared = spec.shareProcessNamespace ? POD : CONTAINER;
  return {
    network: spec.hostNetwork ? NODE : POD,
    pid: spec.hostPID ? NODE : shared,
    ipc: spec.hostIPC ? NODE : POD,
    targetId: '',
  };
}

export function sandboxSecurity(pod: Pod, directories: Directories): LinuxSandboxSecurityContext {
  const { runAsUser, runAsGroup } = pod.spec.securityContext;
  return {
    namespaceOptions: namespaceOptions(pod),
    readonlyRootfs: false,
    supplementalGroups: supplementalGroups(pod),
    // A privileged container may only live in a privileged sandbox.
    privileged: allContainers(pod).some(({ securityContext }) => securityContext.privileged === true),
    ...requestProfiles([pod.spec.securityContext], directories),
    // The pause program needs no more, whatever the pod's containers need (kubernetes #84623).
    seccomp: { profileType: SecurityProfile_ProfileType.RuntimeDefault, localhostRef: '' },
    seccompProfilePath: 'runtime/default',
    ...(runAsUser !== undefined && { runAsUser: { value: BigInt(runAsUser) } }),
    // Runtimes refuse a group without a user.
    ...(runAsUser !== undefined && runAsGroup !== undefined && { runAsGroup: { value: BigInt(runAsGroup) } }),
  };
}

function allContainers({ spec }: Pod): readonly Container[] {
  return [...spec.initContainers, ...spec.containers];
}

function supplementalGroups({ spec: { securityContext } }: Pod): bigint[] {
  const { fsGroup, supplementalGroups: groups = [] } = securityContext;
  return [...new Set([...(fsGroup === undefined ? [] : [fsGroup]), ...groups])].map(BigInt);
}

/**
 * The container's own words count before the pod's.
 * @throws PodwireError CONTAINER_CONFIG_INVALID when it must not run as root and would, or it cannot be told
 */
export function containerSecurity(
  pod: Pod,
  container: Container,
  imageUser: ImageUser | undefined,
  directories: Directories,
): LinuxContainerSecurityContext {
  const own = container.securityContext;
  requireNonRoot(pod, container, imageUser);
  return {
    ...userOf(pod, container, imageUser),
    namespaceOptions: namespaceOptions(pod),
    privileged: own.privileged ?? false,
    readonlyRootfs: own.readOnlyRootFilesystem ?? false,
    noNewPrivs: own.allowPrivilegeEscalation === false,
    capabilities: {
      addCapabilities: own.capabilities?.add ?? [],
      dropCapabilities: own.capabilities?.drop ?? [],
      addAmbientCapabilities: [],
    },
    supplementalGroups: supplementalGroups(pod),
    maskedPaths,
    readonlyPaths,
    apparmorProfile: '',
    ...requestProfiles(
      [
        own,
        containerAnnotationProfiles(pod, container.name),
        pod.spec.securityContext,
        podAnnotationProfiles(pod),
      ],
      directories,
    ),
  };
}

type RunAs = Pick<LinuxContainerSecurityContext, 'runAsUser' | 'runAsGroup' | 'runAsUsername'>;

function userOf(pod: Pod, { securityContext: own }: Container, imageUser: ImageUser | undefined): RunAs {
  const group = own.runAsGroup ?? pod.spec.securityContext.runAsGroup;
  const asked = own.runAsUser ?? pod.spec.securityContext.runAsUser;
  const runAsGroup = group === undefined ? {} : { runAsGroup: { value: BigInt(group) } };
  if (asked !== undefined) return { runAsUser: { value: BigInt(asked) }, runAsUsername: '', ...runAsGroup };
  if (group === undefined) return { runAsUsername: '' };
  // Runtimes refuse a group without a user, so the image's is said.
  if (imageUser?.username !== undefined) return { runAsUsername: imageUser.username, ...runAsGroup };
  return { runAsUser: { value: BigInt(imageUser?.uid ?? 0) }, runAsUsername: '', ...runAsGroup };
}

function requireNonRoot(pod: Pod, container: Container, imageUser: ImageUser | undefined): void {
  const own = container.securityContext;
  const wanted = own.runAsNonRoot ?? pod.spec.securityContext.runAsNonRoot;
  if (wanted !== true) return;
  const why = whyPossiblyRoot(own.runAsUser ?? pod.spec.securityContext.runAsUser, imageUser);
  if (why === undefined) return;
  throw new PodwireError(
    'CONTAINER_CONFIG_INVALID',
    `pod ${podName(pod)}, container ${container.name}: runAsNonRoot, but ${why}`,
    { details: { pod: podName(pod), container: container.name } },
  );
}

function whyPossiblyRoot(asked: number | undefined, imageUser: ImageUser | undefined): string | undefined {
  if (asked !== undefined) return asked === 0 ? 'runAsUser is 0' : undefined;
  if (imageUser === undefined) return 'the user of the image is not known; set runAsUser';
  if (imageUser.uid !== undefined) return imageUser.uid === 0 ? 'the image runs as root' : undefined;
  if (imageUser.username === undefined) return 'the image runs as root';
  return `the image names its user (${imageUser.username}), which may be root; set runAsUser to a number`;
}
