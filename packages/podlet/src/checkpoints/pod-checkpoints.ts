import { describeError } from '@podwire/errors';
import { type CheckpointFiles, createCheckpointStore } from '@podwire/linux';
import { compact } from '@podwire/platform';
import type { Merger, PodUpdate, SourceProblem } from '../contract.js';
import { type Pod, readApiPod } from '@podwire/pod-spec';

/**
 * Pods that come up again after a start even when the API server cannot be reached: those with the annotation
 * `node.kubernetes.io/bootstrap-checkpoint: "true"` are kept in a directory (kubelet 1.9 to 1.18 had this).
 */

export interface PodCheckpoints {
  /**
   * Follows a pod: writes it, or removes its file when it has lost the annotation. Does nothing when nothing that is kept
   * has changed. A failure is returned, since the pod runs all the same.
   */
  keep(pod: Pod): Promise<SourceProblem | undefined>;
  forget(uid: string): Promise<SourceProblem | undefined>;
  /** Follows what the merge tells of the API's pods; those of files and URLs have their manifests. */
  follow(updates: readonly PodUpdate[]): Promise<readonly SourceProblem[]>;
  /** All that can be read, sorted by name, and what is wrong with the others. Those files are left for people to look at. */
  load(): Promise<{ readonly pods: readonly Pod[]; readonly problems: readonly SourceProblem[] }>;
}

const annotation = 'node.kubernetes.io/bootstrap-checkpoint';

export function isCheckpointed({ metadata }: Pod): boolean {
  return metadata.annotations[annotation] === 'true';
}

export function createPodCheckpoints(directory: string, fs?: CheckpointFiles): PodCheckpoints {
  const store = createCheckpointStore<unknown>(directory, {
    dataField: 'Pod',
    checksumField: 'Checksum',
    ...compact({ fs }),
  });
  /** What lies on the disk as far as this process has written it; pods are frozen, so the same object is the same pod. */
  const written = new Map<string, Pod>();
  /** Calls for one pod follow each other: the latest state has to win. */
  const queues = new Map<string, Promise<unknown>>();

  const enqueue = (uid: string, work: () => Promise<void>): Promise<SourceProblem | undefined> => {
    const done = (queues.get(uid) ?? Promise.resolve()).then(work).then(
      () => undefined,
      (error: unknown) => problemOf(uid, `cannot be kept: ${describeError(error)}`),
    );
    queues.set(uid, done);
    return done.finally(() => {
      if (queues.get(uid) === done) queues.delete(uid);
    });
  };
  const problemOf = (uid: string, message: string): SourceProblem => ({
    source: 'api',
    origin: `checkpoint ${directory}/${keyOf(uid)}`,
    message,
  });
  const forget = (uid: string): Promise<SourceProblem | undefined> =>
    enqueue(uid, async () => {
      written.delete(uid);
      await store.remove(keyOf(uid));
    });

  const keep = (pod: Pod): Promise<SourceProblem | undefined> => {
    const { uid } = pod.metadata;
    if (!isCheckpointed(pod)) return forget(uid);
    return enqueue(uid, async () => {
      if (written.get(uid) === pod) return;
      await store.write(keyOf(uid), pod);
      written.set(uid, pod);
    });
  };

  return {
    keep,
    forget,
    async follow(updates) {
      const changes = updates
        .filter(({ source }) => source === 'api')
        .flatMap(({ kind, pods }) =>
          pods.map((pod) => (kind === 'REMOVE' ? forget(pod.metadata.uid) : keep(pod))),
        );
      return (await Promise.all(changes)).filter((problem) => problem !== undefined);
    },
    async load() {
      const problems: SourceProblem[] = [];
      const pods: Pod[] = [];
      for (const key of await store.keys()) {
        if (!key.startsWith('Pod_')) continue;
        const outcome = await loadOne(key);
        if (typeof outcome === 'string') problems.push(problemOf(uidOf(key), outcome));
        else if (outcome !== undefined) pods.push(outcome);
      }
      return { pods, problems };
    },
  };

  async function loadOne(key: string): Promise<Pod | string | undefined> {
    try {
      const reading = await store.read(key);
      if (reading.state === 'missing') return undefined;
      if (reading.state === 'corrupt') return `cannot be used: ${reading.reason}`;
      return readKept(reading.data, uidOf(key));
    } catch (error) {
      return `cannot be read: ${describeError(error)}`;
    }
  }
}

/** Read as one of the API, since another version of Podwire may have written it. */
function readKept(kept: unknown, uid: string): Pod | string {
  const { pod, complaints } = readApiPod(kept);
  if (complaints.length > 0) return `cannot be used: ${complaints.join('; ')}`;
  return pod.metadata.uid === uid ? pod : 'cannot be used: it is of another pod';
}

/** Named as kubelet names them. */
function keyOf(uid: string): string {
  return `Pod_${uid}.yaml`;
}

function uidOf(key: string): string {
  return key.slice('Pod_'.length, -'.yaml'.length);
}

/** A merger whose changes are checkpointed, in the background: a checkpoint does not delay its pod. */
export function withCheckpoints(
  merger: Merger,
  checkpoints: Pick<PodCheckpoints, 'follow'>,
  onProblem: (problem: SourceProblem) => void,
): Merger {
  return {
    ...merger,
    merge(source, snapshot) {
      const updates = merger.merge(source, snapshot);
      void checkpoints.follow(updates).then((problems) => problems.forEach(onProblem));
      return updates;
    },
  };
}
