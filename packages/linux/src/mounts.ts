/** Mounts below a directory: pinned namespaces, the file systems of containers, directories that are bound there. */
import fs from 'node:fs';
import os from 'node:os';
import { SystemError } from './errno.js';
import { unmountLazily } from './libc.js';

export interface Mount {
  readonly path: string;
  /** The file system's type: `nsfs`, `overlay`, `tmpfs` … */
  readonly type: string;
}

/** In the order in which they were mounted (proc(5), mountinfo: field 5, and the type after the lone dash). */
export function readMounts(mountinfo: string): Mount[] {
  return mountinfo
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({
      path: unescapeOctal(line.split(' ')[4] ?? ''),
      type: line.split(' - ')[1]?.split(' ')[0] ?? '',
    }));
}

/** Blanks and backslashes are written as octal numbers. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

/** Outer ones first. A directory that is reached through a link is meant too: the kernel has real paths. */
export function mountsBelow(directory: string): Mount[] {
  const real = realPathOf(directory);
  return readMounts(fs.readFileSync('/proc/self/mountinfo', 'utf8')).filter(({ path }) =>
    path.startsWith(`${real}/`),
  );
}

function realPathOf(directory: string): string {
  return fs.existsSync(directory) ? fs.realpathSync(directory) : directory;
}

export function unmountBelow(directory: string): void {
  for (const { path } of mountsBelow(directory).reverse()) unmountLazily(path);
}

/**
 * Removes a directory with all that is in it, unless something is mounted there: that may be a directory of the node. For where
 * nothing can be awaited, or no container writes; else there is `removeTree`.
 * @throws SystemError `EBUSY` with what is mounted
 */
export function removeTreeSync(directory: string): void {
  const mounted = mountsBelow(directory).map(({ path }) => path);
  if (mounted.length > 0)
    throw new SystemError(
      'rmdir',
      os.constants.errno.EBUSY,
      `nothing of ${directory} was removed; mounted: ${mounted.join(' ')}`,
    );
  fs.rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}
