import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FindConfigMap } from '../../src/files/config-map.js';
import { createPodPreparation } from '../../src/files/preparation.js';
import { type Pod, readApiPod, type VolumeMount } from '@podwire/pod-spec';
import { makeContainer, makePod } from '../runtime-config/make-pod.js';
import { recordMounts, temporaryDirectories } from './temporary.js';

const temporary = temporaryDirectories();
const live = new AbortController().signal;
const mountAt = (name: string, mountPath: string, more: Partial<VolumeMount> = {}) => ({
  name,
  mountPath,
  readOnly: false,
  ...more,
});

function setUp(configMaps: Record<string, Record<string, string>> = {}, failing?: Set<string>) {
  const base = temporary();
  const directories = { root: path.join(base, 'root'), logs: path.join(base, 'logs') };
  const mounts = recordMounts(failing);
  const findConfigMap: FindConfigMap = (namespace, name) => {
    const data = configMaps[`${namespace}/${name}`];
    return Promise.resolve(data && { data, binaryData: {} });
  };
  const node = { hosts: () => Promise.resolve('127.0.0.1 node\n'), clusterDomain: 'cluster.local' };
  const preparation = createPodPreparation({ directories, mounts, findConfigMap, node });
  const below = (pod: Pod, ...parts: string[]) =>
    path.join(directories.root, 'pods', pod.metadata.uid, ...parts);
  return { preparation, directories, mounts, below, configMaps };
}

const podWith = (volumes: Pod['spec']['volumes'], ...volumeMounts: ReturnType<typeof mountAt>[]) =>
  makePod({ volumes, containers: [makeContainer({ volumeMounts })] });

describe('prepare', () => {
  test('volumes of all kinds, for each container what it mounts', async () => {
    const { preparation, below, mounts, directories } = setUp({ 'shop/settings': { key: 'value' } });
    const pod = makePod({
      volumes: [
        { name: 'cache', emptyDir: {} },
        { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '64Ki' } },
        { name: 'conf', configMap: { name: 'settings' } },
        { name: 'host', hostPath: { path: '/etc', type: 'Directory' } },
      ],
      initContainers: [makeContainer({ name: 'init', volumeMounts: [mountAt('cache', '/cache')] })],
      containers: [
        makeContainer({
          volumeMounts: [
            mountAt('shm', '/dev/shm'),
            mountAt('conf', '/etc/app'),
            mountAt('host', '/h', {
              readOnly: true,
              mountPropagation: 'HostToContainer',
              recursiveReadOnly: 'Disabled',
            }),
          ],
        }),
      ],
    });
    const { mounts: prepared } = await preparation.prepare(pod, live);
    expect(prepared.get('init')).toEqual([
      { hostPath: below(pod, 'volumes/empty-dir/cache'), containerPath: '/cache', readOnly: false },
    ]);
    expect(prepared.get('main')).toEqual([
      { hostPath: below(pod, 'volumes/empty-dir/shm'), containerPath: '/dev/shm', readOnly: false },
      { hostPath: below(pod, 'volumes/config-map/conf'), containerPath: '/etc/app', readOnly: true },
      {
        ...{ hostPath: '/etc', containerPath: '/h', readOnly: true },
        ...{ mountPropagation: 'HostToContainer', recursiveReadOnly: 'Disabled' },
      },
    ]);
    expect([...mounts.table]).toEqual([[below(pod, 'volumes/empty-dir/shm'), 'tmpfs 65536']]);
    expect(fs.readFileSync(below(pod, 'volumes/config-map/conf/key'), 'utf8')).toBe('value');
    expect(fs.statSync(below(pod)).mode & 0o777).toBe(0o750);
    expect(fs.statSync(below(pod, 'volumes/empty-dir/cache')).mode & 0o777).toBe(0o777);
    expect(fs.readdirSync(path.join(directories.logs, `shop_web_${pod.metadata.uid}`))).toEqual([
      'init',
      'main',
    ]);
  });

  test('again is harmless: data stays, nothing is mounted twice', async () => {
    const { preparation, below, mounts } = setUp();
    const pod = podWith(
      [
        { name: 'cache', emptyDir: {} },
        { name: 'shm', emptyDir: { medium: 'Memory' } },
      ],
      mountAt('cache', '/a', { subPath: 'sub' }),
      mountAt('shm', '/b'),
    );
    await preparation.prepare(pod, live);
    fs.writeFileSync(below(pod, 'volumes/empty-dir/cache/file'), 'data');
    fs.chmodSync(below(pod, 'volumes/empty-dir/cache'), 0o700);
    const before = [...mounts.table];
    await preparation.prepare(pod, live);
    expect([...mounts.table]).toEqual(before);
    expect(fs.readFileSync(below(pod, 'volumes/empty-dir/cache/file'), 'utf8')).toBe('data');
    expect(fs.statSync(below(pod, 'volumes/empty-dir/cache')).mode & 0o777).toBe(0o700);
  });

  test('a subPathExpr of an API pod is refused: its container must not get the whole volume', async () => {
    const { preparation } = setUp();
    const volumeMounts = [{ name: 'logs', mountPath: '/logs', subPathExpr: '$(POD_NAME)' }];
    const { pod } = readApiPod({
      metadata: { name: 'web', namespace: 'shop', uid: 'u' },
      spec: {
        containers: [{ name: 'main', image: 'i', volumeMounts }],
        volumes: [{ name: 'logs', emptyDir: {} }],
      },
    });
    await expect(preparation.prepare(pod, live)).rejects.toThrow(
      'pod shop/web, volume logs at /logs of container main: Podwire has no subPathExpr',
    );
  });

  test('a changed ConfigMap is seen below the same path', async () => {
    const { preparation, below, configMaps } = setUp({ 'shop/settings': { key: 'old' } });
    const pod = podWith([{ name: 'conf', configMap: { name: 'settings' } }]);
    await preparation.prepare(pod, live);
    configMaps['shop/settings'] = { key: 'new' };
    await preparation.prepare(pod, live);
    expect(fs.readFileSync(below(pod, 'volumes/config-map/conf/key'), 'utf8')).toBe('new');
  });

  test('a key of a ConfigMap can be mounted alone', async () => {
    const { preparation, below, mounts } = setUp({ 'shop/settings': { 'app.conf': 'value' } });
    const pod = podWith(
      [{ name: 'conf', configMap: { name: 'settings' } }],
      mountAt('conf', '/etc/app.conf', { subPath: 'app.conf' }),
    );
    const { mounts: prepared } = await preparation.prepare(pod, live);
    const [mount] = prepared.get('main')!;
    expect(mount).toEqual({
      hostPath: below(pod, 'volume-subpaths/main/0'),
      containerPath: '/etc/app.conf',
      readOnly: true,
    });
    expect(fs.readFileSync(mounts.table.get(mount!.hostPath)!, 'utf8')).toBe('value');
  });

  test('ConfigMaps of the environment are handed on, missing ones left out', async () => {
    const { preparation } = setUp({ 'shop/a': { A: '1' }, 'shop/b': { B: '2' }, 'other/c': { C: '3' } });
    const container = makeContainer({
      envFrom: [{ configMapRef: { name: 'a' } }, { configMapRef: { name: 'c', optional: true } }],
      env: [
        { name: 'B', valueFrom: { configMapKeyRef: { name: 'b', key: 'B' } } },
        { name: 'X', value: 'x' },
      ],
    });
    const { configMaps } = await preparation.prepare(makePod({ containers: [container] }), live);
    expect(Object.fromEntries(configMaps)).toEqual({ a: { A: '1' }, b: { B: '2' } });
  });
});

describe('prepare says what is wrong', () => {
  const fails = async (pod: Pod, message: RegExp) => {
    const failed = setUp().preparation.prepare(pod, live);
    await expect(failed).rejects.toMatchObject({
      code: 'VOLUME_UNAVAILABLE',
      message: expect.stringMatching(message) as string,
    });
  };
  test.each([
    [
      'a ConfigMap',
      [{ name: 'v', configMap: { name: 'nowhere' } }],
      /pod shop\/web, volume v: ConfigMap nowhere does not exist/,
    ],
    [
      'a host path',
      [{ name: 'v', hostPath: { path: '/nowhere', type: 'File' } }],
      /volume v: \/nowhere does not exist/,
    ],
    ['a kind', [{ name: 'v' }], /no kind that Podwire has/],
    ['a name', [{ name: '../v', emptyDir: {} }], /cannot be part of a path/],
  ])('%s', (_, volumes, message) => fails(podWith(volumes), message));

  test('a mount without volume', () =>
    fails(
      podWith([], mountAt('v', '/data')),
      /volume v at \/data of container main: the pod has no such volume/,
    ));

  test.each(['..', '../x', 'a/b', '', '.hidden', 'a\0'])('a uid %j', async (uid) => {
    const { preparation, directories } = setUp();
    const expected = { code: 'VOLUME_UNAVAILABLE' };
    await expect(preparation.prepare(makePod({}, { uid }), live)).rejects.toMatchObject(expected);
    await expect(preparation.discard(uid)).rejects.toMatchObject(expected);
    await expect(preparation.writeHosts(makePod({}, { uid }), [])).rejects.toThrow();
    expect(
      fs.existsSync(directories.root) ? fs.readdirSync(path.join(directories.root, 'pods')) : [],
    ).toEqual([]);
  });

  test('that it was cancelled', async () => {
    const { preparation } = setUp();
    const pod = podWith([{ name: 'v', emptyDir: {} }]);
    await expect(preparation.prepare(pod, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});

describe('small files', () => {
  test('hosts', async () => {
    const { preparation, below } = setUp();
    const pod = makePod();
    expect(await preparation.writeHosts(pod, ['10.1.0.7'])).toBe(below(pod, 'etc-hosts'));
    expect(fs.readFileSync(below(pod, 'etc-hosts'), 'utf8')).toContain('\n10.1.0.7\tweb\n');
    const onHost = makePod({ hostNetwork: true }, { uid: 'other' });
    await preparation.writeHosts(onHost, []);
    expect(fs.readFileSync(below(onHost, 'etc-hosts'), 'utf8')).toContain('\n127.0.0.1 node\n');
  });

  test('termination message: the end of them, and only of the latest instances', async () => {
    const { preparation } = setUp();
    const pod = makePod();
    const read = (attempt: number) => preparation.readTerminationLog(pod.metadata.uid, 'main', attempt);
    const files = [];
    for (const attempt of [0, 1, 2]) {
      files.push(await preparation.createTerminationLog(pod, 'main', attempt));
      fs.writeFileSync(files.at(-1)!, `words of ${attempt}`);
    }
    expect(await Promise.all([0, 1, 2, 3].map(read))).toEqual(['', 'words of 1', 'words of 2', '']);
    expect(fs.statSync(files[2]!).mode & 0o777).toBe(0o666);
    fs.writeFileSync(files[2]!, `${'x'.repeat(5000)}end`);
    expect(await read(2)).toBe(`${'x'.repeat(4093)}end`);
    await preparation.createTerminationLog(pod, 'main', 2);
    expect(await read(2)).toHaveLength(4096);
  });
});

describe('discard', () => {
  const pod = podWith(
    [
      { name: 'shm', emptyDir: { medium: 'Memory' } },
      { name: 'cache', emptyDir: {} },
    ],
    mountAt('cache', '/a', { subPath: 'sub' }),
  );

  test('unmounts, inner mounts first, and deletes all of one pod', async () => {
    const { preparation, mounts, directories } = setUp();
    await preparation.prepare(pod, live);
    await preparation.prepare(makePod({}, { uid: 'other' }), live);
    expect(await preparation.list()).toEqual([pod.metadata.uid, 'other']);
    await preparation.discard(pod.metadata.uid);
    expect(mounts.table.size).toBe(0);
    expect(await preparation.list()).toEqual(['other']);
    expect(fs.readdirSync(directories.logs)).toEqual(['shop_web_other']);
    await preparation.discard(pod.metadata.uid);
  });

  test('collects errors, goes on with the rest, and deletes nothing behind a mount', async () => {
    const failing = new Set<string>();
    const { preparation, mounts, below } = setUp({}, failing);
    failing.add(below(pod, 'volumes/empty-dir/shm'));
    await preparation.prepare(pod, live);
    const kept = below(pod, 'volumes/empty-dir/cache/sub');
    await expect(preparation.discard(pod.metadata.uid)).rejects.toThrow(/on strike.*still mounted/);
    expect([...mounts.table.keys()]).toEqual([...failing]);
    expect(fs.existsSync(kept)).toBe(true);
    failing.clear();
    await preparation.discard(pod.metadata.uid);
    expect(fs.existsSync(below(pod))).toBe(false);
  });

  test('directories of a container whose path is longer than a path may be', async () => {
    const { preparation, below } = setUp();
    await preparation.prepare(pod, live);
    // As a program makes them: each from the one before. This process stays where it is.
    const script = `for (let i = 0; i < 60; i++) {
      require('fs').mkdirSync('d'.repeat(200));
      process.chdir('d'.repeat(200));
    }`;
    execFileSync(process.execPath, ['-e', script], { cwd: below(pod, 'volumes/empty-dir/cache') });
    await preparation.discard(pod.metadata.uid);
    expect(fs.existsSync(below(pod))).toBe(false);
    expect(await preparation.list()).toEqual([]);
  });

  test('nothing was ever there: nothing is listed, nothing fails', async () => {
    const { preparation } = setUp();
    expect(await preparation.list()).toEqual([]);
    await preparation.discard('unknown');
  });
});
