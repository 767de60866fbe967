import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { findPrograms, requireEngine } from '../src/prerequisites.js';
import { makeTemporaryDirectory } from './support.js';

const directoryWith = (...names: string[]): string => {
  const directory = makeTemporaryDirectory();
  for (const name of names) fs.writeFileSync(path.join(directory, name), '', { mode: 0o755 });
  return directory;
};
const all = directoryWith('ip', 'nft', 'busybox');
const built = directoryWith('podwire', 'podwire-cni');

test('everything is there', () => {
  expect(findPrograms({ uid: 0, directories: ['/nonexistent', all], binDirectory: built })).toEqual({
    ip: path.join(all, 'ip'),
    podwire: path.join(built, 'podwire'),
    pluginDirectory: built,
  });
});

test.each([
  ['not root', { uid: 1000 }, 'PRIVILEGE_MISSING', /only root/],
  [
    'no ip',
    { directories: [directoryWith('nft')] },
    'PREREQUISITE_MISSING',
    /program ip .* apt-get install iproute2/,
  ],
  [
    'no busybox',
    { directories: [directoryWith('ip', 'nft')] },
    'PREREQUISITE_MISSING',
    /apt-get install busybox-static/,
  ],
  ['no nft', { directories: [directoryWith('ip')] }, 'PREREQUISITE_MISSING', /apt-get install nftables/],
  ['no plugin', { binDirectory: directoryWith('podwire') }, 'PREREQUISITE_MISSING', /npm run setup/],
])('%s', (_, lack, code, message) => {
  const find = () => findPrograms({ uid: 0, directories: [all], binDirectory: built, ...lack });
  expect(find).toThrow(message);
  expect(find).toThrow(expect.objectContaining({ code }));
});

test('an engine that is not installed: every package once', () => {
  const packages = { containerd: 'containerd', ctr: 'containerd', runc: 'runc' };
  expect(() => requireEngine('containerd', packages, [directoryWith('ls')])).toThrow(
    'the demo on containerd needs more programs: apt-get install containerd runc',
  );
  const there = directoryWith('containerd', 'ctr', 'runc');
  expect(requireEngine('containerd', packages, [there])).toEqual({
    containerd: path.join(there, 'containerd'),
    ctr: path.join(there, 'ctr'),
    runc: path.join(there, 'runc'),
  });
});
