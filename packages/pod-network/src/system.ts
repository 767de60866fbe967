import { createProcessExec } from '@podwire/cni';
import { bringLinkUp, inNamespace, openNamespace } from '@podwire/linux';
import { systemClock } from '@podwire/platform';
import { watchFolder } from './config/watch.js';
import type { PodNetworkSystem } from './options.js';

/** The real one where nothing else is given. */
export function completeSystem(given: Partial<PodNetworkSystem> = {}): PodNetworkSystem {
  return {
    clock: systemClock,
    exec: createProcessExec(),
    startWatching: watchFolder,
    bootIdFile: '/proc/sys/kernel/random/boot_id',
    identifyNamespace,
    bringLoopbackUp,
    ...given,
  };
}

function identifyNamespace(file: string): string | undefined {
  try {
    const namespace = openNamespace(file);
    namespace.close();
    return `${namespace.device}:${namespace.inode}`;
  } catch {
    return undefined;
  }
}

function bringLoopbackUp(file: string): void {
  const namespace = openNamespace(file);
  try {
    inNamespace(namespace, () => bringLinkUp('lo'));
  } finally {
    namespace.close();
  }
}
