/** Purge of the Debian package as root, in a mount namespace with a /var/lib and a /run of its own. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { createPrivateHost, type PrivateHost } from '@podwire/testkit';
import { checkoutFile } from '../src/checkout.js';

let host: PrivateHost;

before(async () => {
  host = await createPrivateHost({ name: 'purge' });
});
after(() => host?.close());

/** The pods and the node's files have one device, as on most machines. */
const fixture = `
  mount --bind /etc /etc && mount -o remount,bind,ro /etc
  mount -t tmpfs tmpfs /var/lib
  mount -t tmpfs tmpfs /run
  pods=/var/lib/podwire/podlet/pods
  mkdir -p /var/lib/node/data $pods/one/volume-subpaths/main/0 "$pods/two/a b\\\\c" /run/podwire/embedded/containers/c1
  echo precious | tee /var/lib/node/data/file /var/lib/podwire/podlet/sources.json >/run/podwire/api.sock
  mount --bind /var/lib/node/data $pods/one/volume-subpaths/main/0
`;
/** umount(8) makes a directory of its own. */
const show = 'find /var/lib /run -mindepth 1 -not -path /run/mount -printf "%p\\n" | sort';
const node = ['/var/lib/node', '/var/lib/node/data', '/var/lib/node/data/file'];

/** @returns the files that are left, and what it has said */
async function purge(prepare = '', end = ''): Promise<{ left: string[]; said: string }> {
  const said = path.join(host.directory, 'said');
  const script = checkoutFile('scripts/package/debian/postrm');
  const commands = [fixture, prepare, `sh '${script}' purge 2>'${said}'`, end, show].join('\n');
  const output = await host.run(['unshare', '--mount', '--propagation', 'private', 'sh', '-ec', commands]);
  return { left: output.trim().split('\n'), said: fs.readFileSync(said, 'utf8') };
}

test('a purge keeps the files of the node that are mounted below the directory of a pod', async () => {
  assert.deepEqual(await purge(), { left: node, said: '' });
});

test('mounts whose names have blanks and backslashes, or lie on another, are unmounted', async () => {
  const prepare = `
    for time in 1 2; do mount --bind /var/lib/node/data "$pods/two/a b\\\\c"; done
    mount -t tmpfs tmpfs /run/podwire/embedded/containers/c1`;
  assert.deepEqual(await purge(prepare), { left: node, said: '' });
});

test('what cannot be unmounted is kept and named, and the rest is removed', async () => {
  const busy = 'exec 9<$pods/one/volume-subpaths/main/0/file';
  const { left, said } = await purge(busy, 'exec 9<&-; umount $pods/one/volume-subpaths/main/0');
  const kept = '/var/lib/podwire/podlet/pods/one/volume-subpaths/main/0'.split('/');
  const parents = kept.map((_, index) => kept.slice(0, index + 1).join('/')).slice(3);
  assert.deepEqual(left, [...node, ...parents]);
  assert.match(said, /kept in part; still mounted there: \/var\/lib\/podwire\/podlet\/pods\/one\//);
});

test('a link to the state leads to the same care', async () => {
  const { left } = await purge(`
    umount $pods/one/volume-subpaths/main/0
    mv /var/lib/podwire /var/lib/elsewhere && ln -s elsewhere /var/lib/podwire
    mount --bind /var/lib/node/data $pods/one/volume-subpaths/main/0`);
  assert.deepEqual(left, node);
});

test('without /proc nothing is removed, since mounts are unknown', async () => {
  const { left, said } = await purge('mount -t tmpfs tmpfs /proc');
  assert.equal(left.includes('/var/lib/podwire/podlet/sources.json'), true);
  assert.match(said, /without \/proc/);
});
