import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import type { Mounts } from '../../src/files/mounts.js';

/** Gives directories that are deleted after the tests of the file. */
export function temporaryDirectories(): () => string {
  const made: string[] = [];
  afterAll(() => {
    for (const directory of made) fs.rmSync(directory, { recursive: true, force: true });
  });
  return () => {
    made.push(fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-files-'))));
    return made.at(-1)!;
  };
}

export interface RecordedMounts extends Mounts {
  /** Target to what was mounted there: a path, or `tmpfs` and its size. */
  readonly table: Map<string, string>;
}

/** Mounts without a kernel. What a bind mount shows is the file that its source named at that moment. */
export function recordMounts(failing: ReadonlySet<string> = new Set()): RecordedMounts {
  const table = new Map<string, string>();
  return {
    table,
    mountTmpfs: (target, { sizeBytes }) => void table.set(target, `tmpfs ${sizeBytes ?? 'any'}`),
    bindMount: (source, target) => void table.set(target, fs.readlinkSync(source)),
    unmount: (target) => {
      if (failing.has(target)) throw new Error('device is on strike');
      table.delete(target);
    },
    below: (directory) =>
      Promise.resolve(
        [...table.keys()].filter((each) => each === directory || each.startsWith(`${directory}/`)),
      ),
  };
}
