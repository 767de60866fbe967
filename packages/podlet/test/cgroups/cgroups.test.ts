import fs from 'node:fs';
import path from 'node:path';
import { CgroupDriver, CriError, type CriRuntime } from '@podwire/cri';
import { describe, expect, test } from 'vitest';
import { findCgroupDriver } from '../../src/cgroups/driver.js';
import { podLimits } from '../../src/cgroups/limits.js';
import { formatCgroup, podCgroupParts } from '../../src/cgroups/names.js';
import { withPodCgroups } from '../../src/cgroups/pod-cgroups.js';
import type { PodPreparation } from '../../src/parts.js';
import type { Container } from '@podwire/pod-spec';
import { temporaryDirectories } from '../files/temporary.js';
import { makeContainer, makePod } from '../runtime-config/make-pod.js';

type Amounts = Container['resources'];
const guaranteed: Amounts = { limits: { cpu: '500m', memory: '64Mi' } };
const burstable: Amounts = { requests: { cpu: '100m' }, limits: { memory: '32Mi' } };
const podOf = (...resources: Amounts[]) =>
  makePod({ containers: resources.map((each) => makeContainer({ resources: each })) }, { uid: 'ab-12' });

test.each([
  [guaranteed, '/kubepods/podab-12', '/kubepods.slice/kubepods-podab_12.slice'],
  [
    burstable,
    '/kubepods/burstable/podab-12',
    '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podab_12.slice',
  ],
  [
    {},
    '/kubepods/besteffort/podab-12',
    '/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podab_12.slice',
  ],
])('%j is where the kubelet has it', (resources, cgroupfs, systemd) => {
  const parts = podCgroupParts(podOf(resources), {});
  expect(formatCgroup(parts, 'cgroupfs')).toBe(cgroupfs);
  expect(formatCgroup(parts, 'systemd')).toBe(systemd);
});

test('a root is above all, and its dashes are none of systemd’s levels', () => {
  const parts = podCgroupParts(podOf(guaranteed), { root: '/my-team' });
  expect(formatCgroup(parts, 'cgroupfs')).toBe('/my-team/kubepods/podab-12');
  expect(formatCgroup(parts, 'systemd')).toBe(
    '/my_team.slice/my_team-kubepods.slice/my_team-kubepods-podab_12.slice',
  );
});

test('a pod has the sum of its containers, or what an init container needs, and a limit where all have one', () => {
  expect(podLimits(podOf(guaranteed, burstable))).toMatchObject({
    cpuShares: 614n,
    cpuQuota: 0n,
    memoryBytes: 96n << 20n,
  });
  expect(podLimits(podOf({}))).toMatchObject({ cpuShares: 2n, cpuQuota: 0n, memoryBytes: 0n });
  const init = makeContainer({ name: 'init', resources: { limits: { cpu: '2', memory: '16Mi' } } });
  const pod = podOf(guaranteed);
  const withInit = { ...pod, spec: { ...pod.spec, initContainers: [init] } };
  expect(podLimits(withInit)).toMatchObject({
    cpuShares: 2048n,
    cpuQuota: 200_000n,
    memoryBytes: 64n << 20n,
  });
});

describe('the driver', () => {
  const { signal } = new AbortController();
  const unimplemented = () => Promise.reject(new CriError('UNIMPLEMENTED', 'unknown method RuntimeConfig'));
  const asking = (runtimeConfig: () => unknown, info: Record<string, string> = {}) =>
    findCgroupDriver(
      { runtimeConfig, status: () => Promise.resolve({ info }) } as unknown as CriRuntime,
      signal,
    );
  const telling = (cgroupDriver: CgroupDriver) => () => Promise.resolve({ linux: { cgroupDriver } });
  const containerd = (options: unknown) => ({
    config: JSON.stringify({ containerd: { defaultRuntimeName: 'runc', runtimes: { runc: { options } } } }),
  });

  test('is what RuntimeConfig says', async () => {
    expect(await asking(telling(CgroupDriver.SYSTEMD))).toBe('systemd');
    expect(await asking(telling(CgroupDriver.CGROUPFS))).toBe('cgroupfs');
  });

  test('is in the status of a containerd without that call; else it is unknown', async () => {
    expect(await asking(unimplemented, containerd({ SystemdCgroup: true }))).toBe('systemd');
    expect(await asking(unimplemented, containerd(null))).toBe('cgroupfs');
    expect(await asking(unimplemented)).toBeUndefined();
    await expect(asking(() => Promise.reject(new CriError('UNAVAILABLE', 'away')))).rejects.toThrow('away');
  });
});

describe('files', () => {
  const temporary = temporaryDirectories();
  const live = new AbortController().signal;
  const done: string[] = [];
  const preparation = {
    prepare: () => Promise.resolve({ mounts: new Map(), configMaps: new Map() }),
    discard: (uid: string) => Promise.resolve(void done.push(uid)),
  } as unknown as PodPreparation;
  const read = (...parts: string[]) => fs.readFileSync(path.join(...parts), 'utf8');
  /** The kernel's files go with their group. */
  const emptied = (directory: string) => {
    for (const entry of fs.readdirSync(directory, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) fs.rmSync(path.join(entry.parentPath, entry.name));
  };

  test('version 1: shares, quota and memory, each at its controller, and all goes with the pod', async () => {
    const mount = temporary();
    for (const name of ['cpu', 'memory', 'pids']) fs.mkdirSync(path.join(mount, name));
    fs.mkdirSync(path.join(mount, 'pids/kubepods/burstable/podother'), { recursive: true });
    const cgroups = withPodCgroups(preparation, { driver: 'cgroupfs', mount });
    await cgroups.prepare(podOf(burstable), live);
    const at = 'kubepods/burstable/podab-12';
    expect(read(mount, 'cpu', at, 'cpu.shares')).toBe('102');
    expect(read(mount, 'cpu', at, 'cpu.cfs_quota_us')).toBe('-1');
    expect(read(mount, 'memory', at, 'memory.limit_in_bytes')).toBe(String(32 << 20));
    // As a runtime makes them.
    fs.mkdirSync(path.join(mount, 'pids', at, 'container'), { recursive: true });
    emptied(mount);
    await cgroups.discard('ab-12');
    expect(done).toEqual(['ab-12']);
    expect(fs.readdirSync(path.join(mount, 'cpu'))).toEqual([]);
    expect(fs.readdirSync(path.join(mount, 'pids/kubepods/burstable'))).toEqual(['podother']);
  });

  test('version 2: weight and maxima in one group, and controllers are handed on', async () => {
    const mount = temporary();
    fs.writeFileSync(path.join(mount, 'cgroup.controllers'), 'cpu memory');
    await withPodCgroups(preparation, { driver: 'cgroupfs', mount }).prepare(podOf(guaranteed), live);
    const at = 'kubepods/podab-12';
    expect(read(mount, at, 'cpu.weight')).toBe('20');
    expect(read(mount, at, 'cpu.max')).toBe('50000 100000');
    expect(read(mount, at, 'memory.max')).toBe(String(64 << 20));
    for (const each of ['', 'kubepods'])
      expect(read(mount, each, 'cgroup.subtree_control')).toBe('+cpu +memory');
  });

  test('with systemd nothing is made here', async () => {
    const mount = temporary();
    await withPodCgroups(preparation, { driver: 'systemd', mount }).prepare(podOf(guaranteed), live);
    expect(fs.readdirSync(mount)).toEqual([]);
  });
});
