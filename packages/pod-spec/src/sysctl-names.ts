/** The sysctls that are a pod's own, since its namespaces have them. */
import type { PodSpec } from './pod.js';

const namespaces = [
  { prefixes: ['net.'], shared: 'hostNetwork' },
  { prefixes: ['kernel.sem', 'kernel.shm', 'kernel.msg', 'fs.mqueue.'], shared: 'hostIPC' },
] as const;

/** Old manifests write `kernel/shm_rmid_forced`. */
export function dottedSysctl(name: string): string {
  return name.includes('.') ? name : name.replaceAll('/', '.');
}

/** @returns the field of a pod that makes the setting the node's; undefined for one that is always the node's */
export function sharedBy(name: string): 'hostNetwork' | 'hostIPC' | undefined {
  return namespaces.find(({ prefixes }) => prefixes.some((prefix) => name.startsWith(prefix)))?.shared;
}

/** @returns why it is not the pod's to change, after "belongs to the node" */
export function sysctlOwner(
  name: string,
  spec: Pick<PodSpec, 'hostNetwork' | 'hostIPC'>,
): string | undefined {
  const shared = sharedBy(name);
  if (shared !== undefined) return spec[shared] ? `${shared} is true` : undefined;
  if (name === 'kernel.domainname' || name === 'kernel.hostname') return 'use hostname';
  return 'only net.*, kernel.shm*, kernel.msg*, kernel.sem and fs.mqueue.* are a pod’s own';
}

/** A name, or the beginning of one with a `*` behind, that reaches no setting of the whole node. */
export function isSysctlPattern(pattern: string): boolean {
  const name = dottedSysctl(pattern);
  return /^[a-z0-9._-]+\*?$/.test(name) && sharedBy(name) !== undefined;
}
