/** Mounts below a directory: pinned namespaces and the file systems of containers. */
import fs from 'node:fs';
import { unmountLazily } from './libc.js';

export interface Mount {
  readonly path: string;
  /** The file system's type: `nsfs`, `overlay`, `tmpfs` … */
  readonly type: string;
}

/** Outer ones first (proc(5), mountinfo: field 5, and the type after the lone dash). */
export function mountsBelow(directory: string): Mount[] {
  return fs
    .readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => ({ path: line.split(' ')[4] ?? '', type: line.split(' - ')[1]?.split(' ')[0] ?? '' }))
    .filter((mount) => mount.path.startsWith(`${directory}/`));
}

export function unmountBelow(directory: string): void {
  for (const { path } of mountsBelow(directory).reverse()) unmountLazily(path);
}
