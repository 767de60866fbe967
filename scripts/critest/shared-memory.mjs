import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/**
 * critest makes segments of System V shared memory and leaves them to the machine. An `ipcmk` before the real one writes
 * them down. @returns { directory: to be first in PATH, remove }
 */
export function recordSharedMemory(parent) {
  const directory = path.join(parent, 'wrapped');
  const record = path.join(directory, 'segments');
  fs.mkdirSync(directory);
  fs.writeFileSync(record, '');
  const script = `#!/bin/sh\n/usr/bin/ipcmk "$@" | tee -a '${record}'\n`;
  fs.writeFileSync(path.join(directory, 'ipcmk'), script, { mode: 0o755 });
  const remove = () => {
    for (const [, id] of fs.readFileSync(record, 'utf8').matchAll(/: (\d+)$/gm))
      execFileSync('ipcrm', ['-m', id], { timeout: 10_000 });
  };
  return { directory, remove };
}
