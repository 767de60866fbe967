import { describeError } from '@podwire/errors';
import { type CheckpointFiles, type CheckpointStore, createCheckpointStore } from '@podwire/linux';
import { compact, KeyedMutex } from '@podwire/platform';
import type { Merger, PodUpdate, SourceProblem } from '../contract.js';
import { type Pod, readApiPod } from '@podwire/pod-spec';

/**
 * Pods that come up again after a start even when the API server cannot be reached: those with the annotation
 * `node.kubernetes.io/bootstrap-checkpoint: "true"` are kept in a directory (kubelet 1.9 to 1.18 had this).
 */

const annotation = 'node.kubernetes.io/bootstrap-checkpoint';

export function isCheckpointed({ metadata }: Pod): boolean {
  return metadata.annotations[annotation] === 'true';
}

export class PodCheckpoints {
  readonly #directory: string;
  readonly #store: CheckpointStore<unknown>;
  /** The pods on the disk as far as this process has written them; pods are frozen, so the same object is the same pod. */
  readonly #written = new Map<string, Pod>();
  /** Calls for one pod follow each other: the latest state has to win. */
  readonly #locks = new KeyedMutex();

  constructor(directory: string, fs?: CheckpointFiles) {
    this.#directory = directory;
    const fields = { dataField: 'Pod', checksumField: 'Checksum' };
    this.#store = createCheckpointStore(directory, { ...fields, ...compact({ fs }) });
  }

  /**
   * Follows a pod: writes it, or removes its file when it has lost the annotation. Does nothing when nothing that is kept
   * has changed. A failure is returned, since the pod runs all the same.
   */
  keep(pod: Pod): Promise<SourceProblem | undefined> {
    const { uid } = pod.metadata;
    if (!isCheckpointed(pod)) return this.forget(uid);
    return this.#serially(uid, async () => {
      if (this.#written.get(uid) === pod) return;
      await this.#store.write(keyOf(uid), pod);
      this.#written.set(uid, pod);
    });
  }

  forget(uid: string): Promise<SourceProblem | undefined> {
    return this.#serially(uid, async () => {
      this.#written.delete(uid);
      await this.#store.remove(keyOf(uid));
    });
  }

  /** Follows what the merge tells of the API's pods; those of files and URLs have their manifests. */
  async follow(updates: readonly PodUpdate[]): Promise<readonly SourceProblem[]> {
    const changes = updates
      .filter(({ source }) => source === 'api')
      .flatMap(({ kind, pods }) =>
        pods.map((pod) => (kind === 'REMOVE' ? this.forget(pod.metadata.uid) : this.keep(pod))),
      );
    return (await Promise.all(changes)).filter((problem) => problem !== undefined);
  }

  /** All that can be read, sorted by name, and what is wrong with the others. Those files are left for people to look at. */
  async load(): Promise<{ readonly pods: readonly Pod[]; readonly problems: readonly SourceProblem[] }> {
    const problems: SourceProblem[] = [];
    const pods: Pod[] = [];
    for (const key of await this.#store.keys()) {
      if (!key.startsWith('Pod_')) continue;
      const outcome = await this.#loadOne(key);
      if (typeof outcome === 'string') problems.push(this.#problemOf(uidOf(key), outcome));
      else if (outcome !== undefined) pods.push(outcome);
    }
    return { pods, problems };
  }

  async #loadOne(key: string): Promise<Pod | string | undefined> {
    try {
      const reading = await this.#store.read(key);
      if (reading.state === 'missing') return undefined;
      if (reading.state === 'corrupt') return `cannot be used: ${reading.reason}`;
      return readKept(reading.data, uidOf(key));
    } catch (error) {
      return `cannot be read: ${describeError(error)}`;
    }
  }

  #serially(uid: string, work: () => Promise<void>): Promise<SourceProblem | undefined> {
    return this.#locks.withKey(uid, undefined, work).then(
      () => undefined,
      (error: unknown) => this.#problemOf(uid, `cannot be kept: ${describeError(error)}`),
    );
  }

  #problemOf(uid: string, message: string): SourceProblem {
    return { source: 'api', origin: `checkpoint ${this.#directory}/${keyOf(uid)}`, message };
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
