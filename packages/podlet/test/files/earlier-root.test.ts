/** Pods that run while the pod agent is replaced by a version that keeps volumes elsewhere. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createPodPreparation } from '../../src/files/index.js';
import { makeContainer, makePod } from '../runtime-config/make-pod.js';
import { temporaryDirectories } from './temporary.js';

const mount = { name: 'data', mountPath: '/data', readOnly: false };
const makeDiskPod = (uid: string) =>
  makePod(
    { volumes: [{ name: 'data', emptyDir: {} }], containers: [makeContainer({ volumeMounts: [mount] })] },
    { uid },
  );

function prepareBoth(base: string) {
  const make = (more: object) =>
    createPodPreparation({
      directories: { logs: path.join(base, 'logs'), root: path.join(base, 'old'), ...more },
      node: { hosts: () => Promise.resolve(''), clusterDomain: 'cluster.local' },
      findConfigMap: () => Promise.resolve(undefined),
    });
  return {
    before: make({}),
    after: make({ root: path.join(base, 'new'), earlierRoot: path.join(base, 'old') }),
  };
}

const makeBase = temporaryDirectories();
const live = new AbortController().signal;

test('a pod keeps its directory, and it is found and cleared; a new pod has the new place', async () => {
  const base = makeBase();
  const { before, after } = prepareBoth(base);
  const placeOf = async (preparation: typeof after, uid: string) => {
    const { mounts } = await preparation.prepare(makeDiskPod(uid), live);
    return mounts.get('main')?.[0]?.hostPath ?? '';
  };
  const place = await placeOf(before, 'u1');
  fs.writeFileSync(path.join(place, 'precious'), 'kept');
  expect(await placeOf(after, 'u1')).toBe(place);
  expect(await placeOf(after, 'u2')).toBe(path.join(base, 'new/pods/u2/volumes/empty-dir/data'));
  expect(await after.list()).toEqual(['u1', 'u2']);
  for (const uid of await after.list()) await after.discard(uid);
  expect(await after.list()).toEqual([]);
  expect(fs.readdirSync(path.join(base, 'old/pods'))).toEqual([]);
});
