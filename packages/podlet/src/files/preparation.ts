import fs from 'node:fs/promises';
import path from 'node:path';
import type { PodletDirectories, PodletNode } from '../contract.js';
import type { PodPreparation, PreparedMount, PreparedPod } from '../parts.js';
import type { Container, Pod } from '@podwire/pod-spec';
import { podLogDirectory } from '../runtime-config/sandbox-config.js';
import type { FindConfigMap } from './config-map.js';
import { discardPod, listPods } from './discard.js';
import { buildHosts, writeInPlace } from './hosts.js';
import { kernelMounts, type Mounts } from './mounts.js';
import { hostsPath, podDirectory, podsDirectory, terminationDirectory } from './paths.js';
import { createTerminationLog, readTerminationLog } from './termination-log.js';
import { type PreparedVolume, prepareMounts, prepareVolume, type VolumeContext } from './volumes.js';

export interface PreparationOptions {
  readonly directories: PodletDirectories;
  readonly node: Pick<PodletNode, 'hosts' | 'clusterDomain'>;
  readonly findConfigMap: FindConfigMap;
  /** The kernel's, unless a test has others. */
  readonly mounts?: Mounts;
}

/** The files of pods, all below `directories.root` and `directories.logs`. */
export function createPodPreparation(options: PreparationOptions): PodPreparation {
  const { directories, node, findConfigMap, mounts = kernelMounts } = options;
  return {
    prepare: (pod, signal) => preparePod({ pod, directories, findConfigMap, mounts, signal }, directories),
    writeHosts: async (pod, addresses) => {
      const file = hostsPath(directories, pod.metadata.uid);
      const nodeHosts = pod.spec.hostNetwork ? await node.hosts() : '';
      await writeInPlace(file, buildHosts(pod, addresses, node.clusterDomain, nodeHosts));
      return file;
    },
    createTerminationLog: (pod, container, attempt) =>
      createTerminationLog(terminationDirectory(directories, pod.metadata.uid, container), attempt),
    readTerminationLog: (uid, container, attempt) =>
      readTerminationLog(terminationDirectory(directories, uid, container), attempt),
    discard: (uid) => discardPod(uid, directories, mounts),
    list: () => listPods(directories),
  };
}

async function preparePod(context: VolumeContext, directories: PodletDirectories): Promise<PreparedPod> {
  const { pod } = context;
  await makePodDirectories(pod, directories);
  const volumes = new Map<string, PreparedVolume>();
  for (const volume of pod.spec.volumes) volumes.set(volume.name, await prepareVolume(volume, context));
  const mounts = new Map<string, readonly PreparedMount[]>();
  for (const container of allContainers(pod)) {
    mounts.set(container.name, await prepareMounts(container, volumes, context));
  }
  return { mounts, configMaps: await readConfigMaps(context) };
}

function allContainers({ spec }: Pod): readonly Container[] {
  return [...spec.initContainers, ...spec.containers];
}

async function makePodDirectories(pod: Pod, directories: PodletDirectories): Promise<void> {
  await fs.mkdir(podsDirectory(directories), { recursive: true, mode: 0o750 });
  await fs.mkdir(podDirectory(directories, pod.metadata.uid), { recursive: true, mode: 0o750 });
  // Runtimes write a container's log into its directory, but do not all make it.
  const logs = podLogDirectory(pod, directories);
  for (const { name } of allContainers(pod)) {
    await fs.mkdir(path.join(logs, name), { recursive: true, mode: 0o755 });
  }
}

/** A ConfigMap that is missing stays out; the environment that needs it says so. */
async function readConfigMaps({
  pod,
  findConfigMap,
  signal,
}: VolumeContext): Promise<PreparedPod['configMaps']> {
  const found = new Map<string, Readonly<Record<string, string>>>();
  for (const name of new Set(allContainers(pod).flatMap(namesInEnvironment))) {
    const configMap = await findConfigMap(pod.metadata.namespace, name, signal);
    if (configMap !== undefined) found.set(name, configMap.data);
  }
  return found;
}

function namesInEnvironment({ env, envFrom }: Container): string[] {
  const names = [
    ...envFrom.map(({ configMapRef }) => configMapRef?.name),
    ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
  ];
  return names.filter((name) => name !== undefined);
}
