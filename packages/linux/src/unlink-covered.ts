/**
 * Started as a process of its own with the path of a file: deletes the file although something is mounted on it, below
 * another mount where no path leads. The kernel refuses that in a mount namespace that has the mount. From one that does
 * not have it the file can be deleted, and the kernel then takes the mount away in all of them.
 */
import fs from 'node:fs';
import path from 'node:path';
import { hasCode } from '@podwire/platform';
import { setPropagation, unmountLazily, unshare } from './libc.js';

const CLONE_NEWNS = 0x20000;

function unlinkFromOutside(file: string): void {
  // Relative paths lead there also when nothing is mounted any more.
  process.chdir(path.dirname(file));
  unshare(CLONE_NEWNS);
  setPropagation('/', 'private');
  unmountLazily('/');
  fs.unlinkSync(path.basename(file));
}

try {
  unlinkFromOutside(process.argv[2] ?? '');
} catch (error) {
  if (!hasCode(error, 'ENOENT')) {
    process.stderr.write(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
