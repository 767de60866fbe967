/**
 * Control groups of pods on this machine, for runtimes with the driver cgroupfs. With systemd there is nothing to do here: systemd
 * makes the slices that a scope names, and takes those away that are empty.
 */
import { hasCode, ifExists, succeeds } from '@podwire/platform';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { PodPreparation } from '../parts.js';
import type { Pod } from '@podwire/pod-spec';
import { podLimits, type PodLimits } from './limits.js';
import { type CgroupLocation, podCgroupParts, possibleCgroups } from './names.js';

export interface PodCgroupOptions extends CgroupLocation {
  /** `/sys/fs/cgroup`, unless a test has another. */
  readonly mount?: string;
}

/** Each pod has its control group before its sandbox is made, and it goes when the pod is gone. */
export function withPodCgroups(preparation: PodPreparation, options: PodCgroupOptions): PodPreparation {
  if (options.driver === 'systemd') return preparation;
  const { mount = '/sys/fs/cgroup' } = options;
  return {
    ...preparation,
    prepare: async (pod, signal) => {
      await makePodCgroup(pod, mount, options);
      return preparation.prepare(pod, signal);
    },
    discard: async (uid) => {
      // The directories are what tells that something of the pod is left, so they go last.
      for (const parts of possibleCgroups(uid, options)) await removeCgroup(parts, mount);
      await preparation.discard(uid);
    },
  };
}

async function makePodCgroup(pod: Pod, mount: string, place: CgroupLocation): Promise<void> {
  const parts = podCgroupParts(pod, place);
  const limits = podLimits(pod);
  if (await isUnified(mount)) await makeUnified(parts, mount, limits);
  else await makeLegacy(parts, mount, limits);
}

async function isUnified(mount: string): Promise<boolean> {
  return succeeds(fs.access(path.join(mount, 'cgroup.controllers')));
}

/** Version 2: a controller works in a group only when all above have handed it on. */
async function makeUnified(parts: readonly string[], mount: string, limits: PodLimits): Promise<void> {
  for (const [index] of parts.entries()) {
    const above = path.join(mount, ...parts.slice(0, index));
    await fs.writeFile(path.join(above, 'cgroup.subtree_control'), '+cpu +memory');
    await fs.mkdir(path.join(above, parts[index] ?? ''), { recursive: true });
  }
  const write = writer(path.join(mount, ...parts));
  const { cpuShares, cpuQuota, cpuPeriod, memoryBytes } = limits;
  await write('cpu.weight', 1n + ((cpuShares - 2n) * 9999n) / 262142n);
  await write('cpu.max', `${cpuQuota === 0n ? 'max' : cpuQuota} ${cpuPeriod}`);
  await write('memory.max', memoryBytes === 0n ? 'max' : memoryBytes);
}

async function makeLegacy(parts: readonly string[], mount: string, limits: PodLimits): Promise<void> {
  const { cpuShares, cpuQuota, cpuPeriod, memoryBytes } = limits;
  await writeLegacy(path.join(mount, 'cpu'), parts, {
    'cpu.shares': cpuShares,
    'cpu.cfs_period_us': cpuPeriod,
    'cpu.cfs_quota_us': cpuQuota === 0n ? -1n : cpuQuota,
  });
  await writeLegacy(path.join(mount, 'memory'), parts, {
    'memory.limit_in_bytes': memoryBytes === 0n ? -1n : memoryBytes,
  });
}

/** A controller that the machine does not have limits nothing. */
async function writeLegacy(
  hierarchy: string,
  parts: readonly string[],
  values: Readonly<Record<string, bigint>>,
): Promise<void> {
  if (!(await succeeds(fs.access(hierarchy)))) return;
  const directory = path.join(hierarchy, ...parts);
  await fs.mkdir(directory, { recursive: true });
  for (const [file, value] of Object.entries(values)) await writer(directory)(file, value);
}

const writer =
  (directory: string) =>
  (file: string, value: bigint | string): Promise<void> =>
    fs.writeFile(path.join(directory, file), String(value));

/** Of all controllers: the runtime makes those that are not made here. What is above goes with it once it is empty. */
async function removeCgroup(parts: readonly string[], mount: string): Promise<void> {
  const hierarchies = (await isUnified(mount)) ? [mount] : await listDirectories(mount);
  for (const hierarchy of hierarchies) {
    const directory = path.join(hierarchy, ...parts);
    if (!(await succeeds(fs.access(directory)))) continue;
    await removeTree(directory);
    for (let length = parts.length - 1; length > 0; length -= 1) {
      if (!(await removeEmpty(path.join(hierarchy, ...parts.slice(0, length))))) break;
    }
  }
}

/** Groups only: files in them are the kernel's. @throws Error EBUSY where a process is inside */
async function removeTree(directory: string): Promise<void> {
  for (const child of await listDirectories(directory)) await removeTree(child);
  await ifExists(fs.rmdir(directory));
}

async function removeEmpty(directory: string): Promise<boolean> {
  try {
    await fs.rmdir(directory);
    return true;
  } catch (error) {
    // Another pod is there, or foreign processes.
    if (hasCode(error, 'ENOTEMPTY', 'EBUSY', 'ENOENT')) return false;
    throw error;
  }
}

/** Without links: `cpu` may be one to `cpu,cpuacct`. */
async function listDirectories(directory: string): Promise<string[]> {
  const entries = await fs.readdir(directory, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => path.join(directory, name));
}
