/**
 * A lock, not a pid, shows that a pause process or shim lives: it keeps the file `alive` open and locked from before
 * it is started until its end (flock(2) belongs to the open file, which it inherits). So there is no moment at which one
 * could be overlooked, whenever this process dies.
 */
import fs from 'node:fs';
import path from 'node:path';
import { hasCode, lockFile } from '@podwire/linux';

/** Opens and locks it. The descriptor goes to the child; the own copy has to be closed then. */
export function lockAlive(directory: string): number {
  const fd = fs.openSync(path.join(directory, 'alive'), 'a', 0o600);
  try {
    lockFile(fd);
    return fd;
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

/** True if a start was ever begun. */
export const wasLaunched = (directory: string): boolean => fs.existsSync(path.join(directory, 'alive'));

export function isAlive(directory: string): boolean {
  let fd: number;
  try {
    fd = fs.openSync(path.join(directory, 'alive'), 'r');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
  try {
    lockFile(fd);
    return false;
  } catch (error) {
    if (hasCode(error, 'EAGAIN', 'EWOULDBLOCK')) return true;
    throw error;
  } finally {
    fs.closeSync(fd);
  }
}
