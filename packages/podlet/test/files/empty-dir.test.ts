import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { prepareEmptyDir } from '../../src/files/empty-dir.js';
import { recordMounts, temporaryDirectories } from './temporary.js';

const temporary = temporaryDirectories();
/** No kernel has a group of this number. */
const impossible = 2 ** 40;
const rightsOf = (directory: string): number => fs.statSync(directory).mode & 0o7777;

test.each(['', 'Memory'] as const)(
  'one that cannot be given to its group is refused each time, and good when it can (medium "%s")',
  async (medium) => {
    const directory = path.join(temporary(), 'empty-dir', 'cache');
    const mounts = recordMounts();
    const prepare = (group?: number): Promise<void> => prepareEmptyDir(directory, { medium }, group, mounts);
    await expect(prepare(impossible)).rejects.toThrow();
    await expect(prepare(impossible)).rejects.toThrow();
    expect(mounts.table.size).toBe(0);
    await prepare();
    expect(rightsOf(directory)).toBe(0o777);
    expect(fs.readdirSync(path.dirname(directory))).toEqual(['cache']);
  },
);

test('a directory left incomplete by a kill gets its permissions', async () => {
  const parent = temporary();
  fs.mkdirSync(path.join(parent, '.cache'), { mode: 0o700 });
  await prepareEmptyDir(path.join(parent, 'cache'), {}, undefined, recordMounts());
  expect(fs.readdirSync(parent)).toEqual(['cache']);
  expect(rightsOf(path.join(parent, 'cache'))).toBe(0o777);
});
