import { describeError, PodwireError } from '@podwire/errors';
import { removeTree } from '@podwire/linux';
import { ifExists } from '@podwire/platform';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { PodletDirectories } from '../contract.js';
import type { Mounts } from './mounts.js';
import { allPodsDirectories, isSafePart, podDirectory } from './paths.js';

/**
 * Deletes what is left of a pod. Nothing is deleted while anything is mounted below its directory: it could be a directory of the
 * node itself. @throws PodwireError VOLUME_UNAVAILABLE with everything that went wrong
 */
export async function discardPod(uid: string, directories: PodletDirectories, mounts: Mounts): Promise<void> {
  const problems = [
    ...(await discardDirectory(podDirectory(directories, uid), mounts)),
    ...(await discardLogs(uid, directories)),
  ];
  if (problems.length === 0) return;
  throw new PodwireError(
    'VOLUME_UNAVAILABLE',
    `pod ${uid} could not be cleared away: ${problems.join('; ')}`,
    { action: 'None at first: it is tried again by itself.' },
  );
}

async function discardDirectory(directory: string, mounts: Mounts): Promise<string[]> {
  const real = await ifExists(fs.realpath(directory));
  if (real === undefined) return [];
  const problems = await unmountBelow(real, mounts);
  const left = await mounts.below(real);
  if (left.length > 0) return [...problems, `still mounted: ${left.join(' ')}`];
  return [...problems, ...(await remove(directory))];
}

/** The last first: a mount may lie on another. */
async function unmountBelow(directory: string, mounts: Mounts): Promise<string[]> {
  const problems: string[] = [];
  for (const target of [...(await mounts.below(directory))].reverse()) {
    try {
      mounts.unmount(target);
    } catch (error) {
      problems.push(`${target}: ${describeError(error)}`);
    }
  }
  return problems;
}

/** The next try removes what is left after this time; what was removed stays so. */
const REMOVE_MILLISECONDS = 60_000;

/** Containers write there, so not by paths: one may be too long to be a path, or lead elsewhere. */
async function remove(directory: string): Promise<string[]> {
  try {
    await removeTree(directory, { signal: AbortSignal.timeout(REMOVE_MILLISECONDS) });
    return [];
  } catch (error) {
    return [describeError(error)];
  }
}

async function discardLogs(uid: string, { logs }: PodletDirectories): Promise<string[]> {
  const names = (await listIfThere(logs)).filter((name) => name.split('_').slice(2).join('_') === uid);
  const problems = await Promise.all(names.map((name) => remove(path.join(logs, name))));
  return problems.flat();
}

async function listIfThere(directory: string): Promise<string[]> {
  return (await ifExists(fs.readdir(directory))) ?? [];
}

/** Uids of the pods that have a directory. */
export async function listPods(
  directories: Pick<PodletDirectories, 'root' | 'earlierRoot'>,
): Promise<string[]> {
  const lists = await Promise.all(allPodsDirectories(directories).map(listIfThere));
  return [...new Set(lists.flat())].filter(isSafePart).sort();
}
