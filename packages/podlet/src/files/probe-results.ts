/** Results of probes beside the other files of a pod: they outlive the pod agent, and go with the pod's directory. */
import { describeError } from '@podwire/errors';
import { KeyedMutex, readIfExists, replaceFile } from '@podwire/platform';
import { podName, type Pod, type PodStatus } from '@podwire/pod-spec';
import fs from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { PodletDirectories } from '../contract.js';
import { type EarlierResult, readEarlierResults } from '../lifecycle/earlier-results.js';
import type { StatusSink } from '../sync/sync-context.js';
import { listPods } from './discard.js';
import { podDirectory } from './paths.js';

type Directories = Pick<PodletDirectories, 'root' | 'earlierRoot'>;

const content = z.array(
  z.object({ name: z.string(), containerId: z.string(), started: z.boolean(), ready: z.boolean() }),
);

const fileOf = (directories: Directories, uid: string): string =>
  path.join(podDirectory(directories, uid), 'probe-results.json');

/** Results of all pods by uid. A file that cannot be read counts as none: probes find out again. */
export async function loadProbeResults(
  directories: Directories,
): Promise<ReadonlyMap<string, readonly EarlierResult[]>> {
  const uids = await listPods(directories);
  const results = await Promise.all(uids.map((uid) => readResults(fileOf(directories, uid))));
  return new Map(uids.map((uid, index) => [uid, results[index]!]));
}

async function readResults(file: string): Promise<readonly EarlierResult[]> {
  try {
    const text = await readIfExists(file);
    return text === undefined ? [] : content.parse(JSON.parse(text));
  } catch {
    return [];
  }
}

/**
 * Writes down the results that a pod's status contains, in the background: nothing waits for them. A pod without a directory has
 * not begun, or is gone.
 */
export function withProbeResults(
  sink: StatusSink,
  directories: Directories,
  onProblem: (message: string) => void,
): StatusSink {
  const written = new Map<string, string>();
  const locks = new KeyedMutex();
  const write = async (pod: Pod, text: string): Promise<void> => {
    const file = fileOf(directories, pod.metadata.uid);
    if (!fs.existsSync(path.dirname(file))) return;
    await replaceFile(file, text, { mode: 0o600 });
  };
  const keep = (pod: Pod, status: PodStatus): void => {
    const { uid } = pod.metadata;
    const text = JSON.stringify(readEarlierResults(status));
    // A pod that ends needs no results: none is written beside the removal of its directory.
    if (text === '[]' || written.get(uid) === text) return;
    written.set(uid, text);
    locks
      .withKey(uid, undefined, () => write(pod, text))
      .catch((error: unknown) => {
        // The next status tries again.
        written.delete(uid);
        onProblem(`results of probes of pod ${podName(pod)} cannot be kept: ${describeError(error)}`);
      });
  };
  return {
    ...sink,
    statusChanged(pod, status) {
      keep(pod, status);
      sink.statusChanged(pod, status);
    },
    terminated(pod, status) {
      written.delete(pod.metadata.uid);
      sink.terminated(pod, status);
    },
  };
}
