import fs from 'node:fs';
import { run } from './processes.js';

export interface Mount {
  readonly path: string;
  /** The file system's type: `overlay`, `nsfs`, `tmpfs`… */
  readonly type: string;
}

/** The mounts below a directory, outer ones first (proc(5), mountinfo: field 5, and the type after the lone dash). */
export function mountsBelow(directory: string): Mount[] {
  return fs
    .readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => ({ path: line.split(' ')[4] ?? '', type: line.split(' - ')[1]?.split(' ')[0] ?? '' }))
    .filter((mount) => mount.path.startsWith(`${directory}/`));
}

/** Unmounts everything below a directory, so that it can be deleted. */
export async function unmountBelow(directory: string): Promise<void> {
  for (const { path } of mountsBelow(directory).reverse()) await run(['umount', '--lazy', path]);
}
