/** Names of pods' control groups, as the kubelet has them: `kubepods`, below it a group for each class but Guaranteed, then the pod. */
import type { Pod } from '@podwire/pod-spec';
import { qualityOfService } from '../runtime-config/resources.js';

/** The maker of control groups for the runtime: itself, or systemd, to which they are slices. */
export type CgroupDriver = 'cgroupfs' | 'systemd';

export interface CgroupLocation {
  readonly driver: CgroupDriver;
  /** `/team` puts all below that group, as the kubelet's `--cgroup-root`. */
  readonly root?: string;
}

const classes = { Guaranteed: [], Burstable: ['burstable'], BestEffort: ['besteffort'] } as const;

/** From the outermost to the pod's own. */
export function podCgroupParts(pod: Pod, { root = '' }: Pick<CgroupLocation, 'root'>): string[] {
  return partsOf(pod.metadata.uid, classes[qualityOfService(pod)], root);
}

/** Wherever a pod of this uid may be. */
export function possibleCgroups(uid: string, { root = '' }: Pick<CgroupLocation, 'root'>): string[][] {
  return Object.values(classes).map((parts) => partsOf(uid, parts, root));
}

function partsOf(uid: string, classParts: readonly string[], root: string): string[] {
  return [...root.split('/').filter((part) => part !== ''), 'kubepods', ...classParts, `pod${uid}`];
}

/** `cgroup_parent` of the interface: a path, or with systemd the slices that lead there, each with the names of those above it. */
export function formatCgroup(parts: readonly string[], driver: CgroupDriver): string {
  if (driver === 'cgroupfs') return `/${parts.join('/')}`;
  // A dash is a level to systemd, so names cannot have one.
  const names = parts.map((part) => part.replaceAll('-', '_'));
  return names.map((_name, index) => `/${names.slice(0, index + 1).join('-')}.slice`).join('');
}
