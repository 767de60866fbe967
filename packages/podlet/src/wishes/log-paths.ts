import type { Pod } from '@podwire/pod-spec';
import type { PodletDirectories } from '../contract.js';

/** `<logs>/<namespace>_<name>_<uid>`, as log collectors expect it. Underscores are in none of the three. */
export function podLogDirectory({ metadata }: Pod, { logs }: Pick<PodletDirectories, 'logs'>): string {
  return `${logs}/${metadata.namespace}_${metadata.name}_${metadata.uid}`;
}

/** Below the pod's directory. */
export function containerLogPath(containerName: string, attempt: number): string {
  return `${containerName}/${attempt}.log`;
}
