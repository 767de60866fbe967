import { expect, test } from 'vitest';
import { readMounts } from '../src/index.js';

test('mount points with blanks and backslashes are read, with their types', () => {
  const text =
    '36 35 98:0 / /mnt/a\\040b rw shared:1 - ext3 /dev/root rw\n37 36 0:5 / /mnt/\\134x rw - tmpfs t rw\n';
  expect(readMounts(text)).toEqual([
    { path: '/mnt/a b', type: 'ext3' },
    { path: '/mnt/\\x', type: 'tmpfs' },
  ]);
});
