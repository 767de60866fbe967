/** Where things of a pod lie. Whatever comes from a manifest is checked here before it becomes part of a path. */
import { PodwireError } from '@podwire/errors';
import fs from 'node:fs';
import path from 'node:path';
import type { PodletDirectories } from '../contract.js';

type Root = Pick<PodletDirectories, 'root' | 'earlierRoot'>;

/** One part of a path, and neither hidden nor upwards. */
const safePart = /^\w[\w.:-]{0,252}$/;

export function isSafePart(text: string): boolean {
  return safePart.test(text);
}

/** @throws PodwireError VOLUME_UNAVAILABLE */
function requireSafe(what: string, text: string): string {
  if (isSafePart(text)) return text;
  throw new PodwireError('VOLUME_UNAVAILABLE', `${what} ${JSON.stringify(text)} cannot be part of a path`);
}

export function podsDirectory({ root }: Pick<Root, 'root'>): string {
  return path.join(root, 'pods');
}

/** The place for new pods first. */
export function allPodsDirectories({ root, earlierRoot }: Root): string[] {
  return [root, ...(earlierRoot === undefined ? [] : [earlierRoot])].map((each) =>
    podsDirectory({ root: each }),
  );
}

/** Containers that run have mounts of the earlier place, so a pod that is there stays there. */
export function podDirectory(directories: Root, uid: string): string {
  const [own = '', ...earlier] = allPodsDirectories(directories).map((each) =>
    path.join(each, requireSafe('pod uid', uid)),
  );
  return earlier.find((each) => fs.existsSync(each)) ?? own;
}

export function hostsPath(directories: Root, uid: string): string {
  return path.join(podDirectory(directories, uid), 'etc-hosts');
}

export function volumePath(directories: Root, uid: string, kind: string, name: string): string {
  return path.join(podDirectory(directories, uid), 'volumes', kind, requireSafe('volume', name));
}

/** The bind mount for the `index`-th mount of a container that has a subPath. */
export function subPathTarget(directories: Root, uid: string, container: string, index: number): string {
  return path.join(
    podDirectory(directories, uid),
    'volume-subpaths',
    requireSafe('container', container),
    String(index),
  );
}

export function terminationDirectory(directories: Root, uid: string, container: string): string {
  return path.join(podDirectory(directories, uid), 'containers', requireSafe('container', container));
}
