/** Run in a mount namespace of its own: an older Podwire pinned below a directory that was no mount, then came `ip netns add`. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import {
  bindMount,
  createNamespace,
  deleteNamespace,
  mountsBelow,
  mountTmpfs,
  openNamespace,
} from '@podwire/linux';
import { setPropagation } from '../../src/libc.js';

const old = '/run/netns/podwire-old';

mountTmpfs('/run');
setPropagation('/run', 'private');
fs.mkdirSync('/run/netns');
createNamespace('/run/elsewhere');
fs.writeFileSync(old, '');
bindMount('/run/elsewhere', old);
execFileSync('ip', ['netns', 'add', 'theirs']);
assert.equal(mountsBelow('/run/netns').filter(({ path }) => path === old).length, 2);

openNamespace(old).close();
deleteNamespace(old);
assert.equal(fs.existsSync(old), false);
assert.equal(
  mountsBelow('/run/netns').some(({ path }) => path === old),
  false,
);
openNamespace('/run/netns/theirs').close();
process.stdout.write('deleted\n');
