/** Volumes with the real kernel: mounts and ownership need root. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { createPodPreparation, kernelMounts } from '../../src/files/index.js';
import { makeContainer, makePod } from '../runtime-config/make-pod.js';

const base = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'podwire volumes ')));
const directories = { root: path.join(base, 'root'), logs: path.join(base, 'logs') };
const live = new AbortController().signal;
let settings: Record<string, string> | undefined = { 'app.conf': 'old' };
const preparation = createPodPreparation({
  directories,
  node: { hosts: () => Promise.resolve(''), clusterDomain: 'cluster.local' },
  findConfigMap: () => Promise.resolve(settings && { data: settings, binaryData: {} }),
});

after(async () => {
  for (const target of [...(await kernelMounts.below(base))].reverse()) kernelMounts.unmount(target);
  fs.rmSync(base, { recursive: true, force: true });
});

const fsGroup = 4711;
const mount = (name: string, mountPath: string, subPath?: string) => ({
  name,
  mountPath,
  readOnly: false,
  ...(subPath !== undefined && { subPath }),
});
const host = path.join(base, 'host');
fs.mkdirSync(path.join(host, 'data'), { recursive: true });
fs.writeFileSync(path.join(host, 'data', 'precious'), 'keep me');

function makeVolumes(uid: string) {
  const volumeMounts = [
    mount('memory', '/memory'),
    mount('memory', '/sub', 'a/b'),
    mount('conf', '/etc/app.conf', 'app.conf'),
    mount('host', '/data', 'data'),
    mount('disk', '/disk'),
  ];
  return makePod(
    {
      securityContext: { fsGroup },
      volumes: [
        { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '64Ki' } },
        { name: 'disk', emptyDir: {} },
        { name: 'conf', configMap: { name: 'settings', defaultMode: 0o400 } },
        { name: 'host', hostPath: { path: host } },
      ],
      containers: [makeContainer({ volumeMounts })],
    },
    { uid },
  );
}

async function prepare(uid: string): Promise<string[]> {
  const { mounts } = await preparation.prepare(makeVolumes(uid), live);
  return mounts.get('main')!.map(({ hostPath }) => hostPath);
}

test('volumes are mounted, bounded, owned by the group, and go without a trace', async () => {
  const [memory, sub, conf, data, disk] = (await prepare('first')) as [
    string,
    string,
    string,
    string,
    string,
  ];
  await prepare('first');
  assert.equal((await kernelMounts.below(path.join(directories.root, 'pods'))).length, 4);

  for (const directory of [memory, disk]) {
    assert.equal(fs.statSync(directory).mode & 0o7777, 0o2777);
    assert.equal(fs.statSync(directory).gid, fsGroup);
  }
  fs.writeFileSync(path.join(memory, 'a', 'b', 'small'), 'x');
  assert.equal(fs.statSync(path.join(memory, 'a', 'b', 'small')).gid, fsGroup, 'files inherit the group');
  assert.throws(() => fs.writeFileSync(path.join(memory, 'large'), Buffer.alloc(128 * 1024)), {
    code: 'ENOSPC',
  });
  assert.deepEqual(fs.readdirSync(sub), ['small'], 'the subPath is the same directory');
  assert.equal(fs.readFileSync(conf, 'utf8'), 'old');
  assert.equal(fs.statSync(conf).mode & 0o7777, 0o440, 'the group may read what it owns');
  assert.equal(fs.readFileSync(path.join(data, 'precious'), 'utf8'), 'keep me');
  assert.equal(fs.statSync(host).gid, 0, 'what belongs to the node keeps its owner');

  await preparation.discard('first');
  assert.deepEqual(await preparation.list(), []);
  assert.deepEqual(await kernelMounts.below(base), []);
  assert.equal(fs.readFileSync(path.join(host, 'data', 'precious'), 'utf8'), 'keep me');
});

test('a container that starts again gets the new file under its subPath', async () => {
  const [, , conf] = (await prepare('second')) as [string, string, string];
  settings = { 'app.conf': 'new' };
  assert.equal(fs.readFileSync(conf, 'utf8'), 'old', 'who has it mounted keeps it');
  await prepare('second');
  assert.equal(fs.readFileSync(conf, 'utf8'), 'new');
  const below = await kernelMounts.below(conf);
  assert.equal(below.length, 1, 'and it is mounted once');
  await preparation.discard('second');
});

test('what a container still has open does not keep a pod from being cleared away', async () => {
  const [memory] = (await prepare('third')) as [string];
  const fd = fs.openSync(path.join(memory, 'open'), 'w');
  await preparation.discard('third');
  assert.deepEqual(await kernelMounts.below(base), []);
  fs.writeSync(fd, 'still mine');
  fs.closeSync(fd);
});

test('nothing is deleted behind a mount that cannot be undone', async () => {
  await prepare('fourth');
  const stubborn = createPodPreparation({
    directories,
    node: { hosts: () => Promise.resolve(''), clusterDomain: '' },
    findConfigMap: () => Promise.resolve(undefined),
    mounts: {
      ...kernelMounts,
      unmount: (target) => {
        if (target.endsWith('/3')) throw new Error('not today');
        kernelMounts.unmount(target);
      },
    },
  });
  await assert.rejects(stubborn.discard('fourth'), /not today.*still mounted/);
  assert.equal(fs.readFileSync(path.join(host, 'data', 'precious'), 'utf8'), 'keep me');
  await preparation.discard('fourth');
  assert.deepEqual(await kernelMounts.below(base), []);
});
