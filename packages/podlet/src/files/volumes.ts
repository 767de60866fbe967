import { describeError, PodwireError } from '@podwire/errors';
import fs from 'node:fs/promises';
import path from 'node:path';
import { compact } from '@podwire/platform';
import type { PodletDirectories } from '../contract.js';
import type { PreparedMount } from '../parts.js';
import { type Container, type Pod, podName, type Volume, type VolumeMount } from '@podwire/pod-spec';
import { writeAtomicDirectory } from './atomic-directory.js';
import { type FindConfigMap, projectConfigMap } from './config-map.js';
import { prepareEmptyDir } from './empty-dir.js';
import { prepareHostPath } from './host-path.js';
import type { Mounts } from './mounts.js';
import { subPathTarget, volumePath } from './paths.js';
import { bindSubPath } from './sub-path.js';

export interface VolumeContext {
  readonly pod: Pod;
  readonly directories: Pick<PodletDirectories, 'root' | 'earlierRoot'>;
  readonly findConfigMap: FindConfigMap;
  readonly mounts: Mounts;
  readonly signal: AbortSignal;
}

/** A volume that is there. */
export interface PreparedVolume {
  readonly path: string;
  /** No container may write, whatever its mount says. */
  readonly readOnly: boolean;
  readonly mayCreateSubPath: boolean;
}

/** @throws PodwireError VOLUME_UNAVAILABLE naming pod, volume and why */
export async function prepareVolume(volume: Volume, context: VolumeContext): Promise<PreparedVolume> {
  try {
    context.signal.throwIfAborted();
    return await prepareByKind(volume, context);
  } catch (error) {
    throw unavailable(context.pod, `volume ${volume.name}`, error);
  }
}

function unavailable(pod: Pod, what: string, cause: unknown): PodwireError {
  const name = podName(pod);
  return new PodwireError('VOLUME_UNAVAILABLE', `pod ${name}, ${what}: ${describeError(cause)}`, {
    cause,
    details: { pod: name },
  });
}

async function prepareByKind(volume: Volume, context: VolumeContext): Promise<PreparedVolume> {
  if (volume.emptyDir !== undefined) return prepareEmpty(volume.name, volume.emptyDir, context);
  if (volume.configMap !== undefined) return prepareConfigMap(volume.name, volume.configMap, context);
  if (volume.hostPath === undefined) throw new Error('it is of no kind that Podwire has');
  await prepareHostPath(volume.hostPath);
  return { path: volume.hostPath.path, readOnly: false, mayCreateSubPath: true };
}

async function prepareEmpty(
  name: string,
  emptyDir: NonNullable<Volume['emptyDir']>,
  { pod, directories, mounts }: VolumeContext,
): Promise<PreparedVolume> {
  const directory = volumePath(directories, pod.metadata.uid, 'empty-dir', name);
  await prepareEmptyDir(directory, emptyDir, pod.spec.securityContext.fsGroup, mounts);
  return { path: directory, readOnly: false, mayCreateSubPath: true };
}

async function prepareConfigMap(
  name: string,
  configMap: NonNullable<Volume['configMap']>,
  { pod, directories, findConfigMap, signal }: VolumeContext,
): Promise<PreparedVolume> {
  const { namespace, uid } = pod.metadata;
  const found = await findConfigMap(namespace, configMap.name, signal);
  const directory = volumePath(directories, uid, 'config-map', name);
  await fs.mkdir(path.dirname(directory), { recursive: true, mode: 0o750 });
  const { fsGroup } = pod.spec.securityContext;
  await writeAtomicDirectory(directory, projectConfigMap(configMap, found), fsGroup);
  // Kubernetes mounts them read-only since 1.9.6: what a container wrote would be gone with the next change.
  return { path: directory, readOnly: true, mayCreateSubPath: false };
}

/** @throws PodwireError VOLUME_UNAVAILABLE */
export async function prepareMounts(
  container: Container,
  volumes: ReadonlyMap<string, PreparedVolume>,
  context: VolumeContext,
): Promise<PreparedMount[]> {
  const prepared: PreparedMount[] = [];
  for (const [index, mount] of container.volumeMounts.entries()) {
    prepared.push(await prepareMount(container, mount, index, volumes.get(mount.name), context));
  }
  return prepared;
}

async function prepareMount(
  container: Container,
  mount: VolumeMount,
  index: number,
  volume: PreparedVolume | undefined,
  context: VolumeContext,
): Promise<PreparedMount> {
  try {
    if (volume === undefined) throw new Error('the pod has no such volume');
    // A pod of the API may have it: without it the container would get all of the volume.
    if ('subPathExpr' in mount) throw new Error('Podwire has no subPathExpr; write the path into subPath');
    return {
      hostPath: await pathOf(container, mount, index, volume, context),
      containerPath: mount.mountPath,
      readOnly: mount.readOnly || volume.readOnly,
      ...compact({ mountPropagation: mount.mountPropagation, recursiveReadOnly: mount.recursiveReadOnly }),
    };
  } catch (error) {
    const what = `volume ${mount.name} at ${mount.mountPath} of container ${container.name}`;
    throw unavailable(context.pod, what, error);
  }
}

async function pathOf(
  container: Container,
  { subPath }: VolumeMount,
  index: number,
  volume: PreparedVolume,
  { pod, directories, mounts }: VolumeContext,
): Promise<string> {
  if (subPath === undefined || subPath === '') return volume.path;
  const target = subPathTarget(directories, pod.metadata.uid, container.name, index);
  await bindSubPath({ volume: volume.path, subPath, create: volume.mayCreateSubPath }, target, mounts);
  return target;
}
