import {
  type Container,
  type ContainerStatus,
  type CriRuntime,
  isCriError,
  type PodSandbox,
  type PodSandboxStatus,
} from '@podwire/cri';
import { compact, forEachLimited, orUndefined, succeeds } from '@podwire/platform';
import type { ObservedPod } from '../lifecycle/observed.js';
import { type ContainerEnd, nodeLabel, type PodLabels, readEnd, readPodLabels, uidLabel } from './labels.js';
import { isReady, readContainer, readSandbox, stateOf } from './observe.js';
import { type CacheEntry, PodCache } from './pod-cache.js';

export interface Relisted {
  readonly changed: ReadonlySet<string>;
  /** Sandboxes that another client has removed: their network may still be there. */
  readonly vanished: readonly { readonly id: string; readonly uid: string }[];
}

export interface RuntimeViewOptions {
  readonly runtime: CriRuntime;
  /** Only what carries this node's label is ours. */
  readonly node: string;
  readonly concurrentStatus: number;
  /** Of each sequence. */
  readonly callTimeoutMs: number;
}

type Labelled = { readonly labels: Readonly<Record<string, string>> };

interface Listing {
  readonly sequence: number;
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
}

/**
 * The sandboxes and containers of the runtime, as far as known. Each sandbox and container carries the number of the question that its
 * state is the answer to; an older response never replaces a newer one.
 * So a worker that has just started a container is not set back by a listing that began before.
 */
export class RuntimeView {
  readonly #options: RuntimeViewOptions;
  readonly #cache = new PodCache();
  #wasListed = false;

  constructor(options: RuntimeViewOptions) {
    this.#options = options;
  }

  /** False until everything was listed once: what is not known yet is not gone. */
  get wasListed(): boolean {
    return this.#wasListed;
  }

  observed(uid: string): ObservedPod {
    return this.#cache.observed(uid);
  }

  labels(uid: string): PodLabels | undefined {
    return this.#cache.labels(uid);
  }

  /** How a container ends, as written on it. */
  endOf(containerId: string): ContainerEnd | undefined {
    return this.#cache.find(containerId)?.end;
  }

  uids(): Iterable<string> {
    return this.#cache.uids();
  }

  /** We have removed it. */
  forget(id: string): void {
    this.#cache.remove(id, this.#cache.nextSequence());
  }

  /** Asks for one thing anew. What the runtime does not know is forgotten. @throws CriError */
  async refreshSandbox(id: string, signal: AbortSignal): Promise<void> {
    const { runtime, callTimeoutMs: timeoutMs } = this.#options;
    const request = { podSandboxId: id, verbose: false };
    await this.#refresh(id, runtime.podSandboxStatus(request, { signal, timeoutMs }), (status) => ({
      sandbox: readSandbox(status),
    }));
  }

  /** As {@link refreshSandbox}. */
  async refreshContainer(id: string, sandboxId: string, signal: AbortSignal): Promise<void> {
    const { runtime, callTimeoutMs: timeoutMs } = this.#options;
    const request = { containerId: id, verbose: false };
    await this.#refresh(id, runtime.containerStatus(request, { signal, timeoutMs }), (status) => ({
      container: readContainer(status, sandboxId),
      ...compact({ end: readEnd(status.labels, status.annotations) }),
    }));
  }

  /** Lists one pod and fetches everything of it anew. @throws CriError */
  async refreshPod(uid: string, signal: AbortSignal): Promise<void> {
    const { sequence, sandboxes, containers } = await this.#list({ [uidLabel]: uid }, signal);
    const listed = new Set([...sandboxes, ...containers].map(({ id }) => id));
    this.#cache.removeOthers(uid, listed, sequence);
    await Promise.all([
      ...sandboxes.map(({ id }) => this.refreshSandbox(id, signal)),
      ...containers.map(({ id, podSandboxId }) => this.refreshContainer(id, podSandboxId, signal)),
    ]);
  }

  /** Lists everything, fetches what has changed. @returns whose pods have. @throws CriError when a listing fails */
  async relist(signal: AbortSignal): Promise<Relisted> {
    const { sequence, sandboxes, containers } = await this.#list({}, signal);
    const changed = new Set<string>();
    const fetches = [
      ...sandboxes
        .filter((one) => this.#cache.mark(one.id, sequence)?.sandbox?.ready !== isReady(one))
        .map((one) => ({ one, fetch: () => this.refreshSandbox(one.id, signal) })),
      ...containers
        .filter((one) => this.#cache.mark(one.id, sequence)?.container?.state !== stateOf(one))
        .map((one) => ({ one, fetch: () => this.refreshContainer(one.id, one.podSandboxId, signal) })),
    ];
    const gone = this.#cache.unmarked(sequence);
    for (const { id, uid } of gone) {
      this.#cache.remove(id, sequence);
      changed.add(uid);
    }
    await forEachLimited(fetches, this.#options.concurrentStatus, async ({ one, fetch }) => {
      // One that cannot be asked keeps its old state, so that the next listing finds the change again.
      if (await succeeds(fetch())) changed.add(one.labels[uidLabel] ?? '');
    });
    this.#wasListed = true;
    const vanished = gone.flatMap(({ id, uid, sandbox }) => (sandbox === undefined ? [] : { id, uid }));
    return { changed, vanished };
  }

  async #list(labels: Labelled['labels'], signal: AbortSignal): Promise<Listing> {
    const sequence = this.#cache.nextSequence();
    const { runtime, node, callTimeoutMs: timeoutMs } = this.#options;
    const labelSelector = { [nodeLabel]: node, ...labels };
    const options = { signal, timeoutMs };
    const [{ items }, { containers }] = await Promise.all([
      runtime.listPodSandbox({ filter: { id: '', labelSelector } }, options),
      runtime.listContainers({ filter: { id: '', podSandboxId: '', labelSelector } }, options),
    ]);
    return {
      sequence,
      sandboxes: items.filter((item) => this.#isOurs(item)),
      containers: containers.filter((item) => this.#isOurs(item)),
    };
  }

  async #refresh<T extends PodSandboxStatus | ContainerStatus>(
    id: string,
    question: Promise<{ readonly status?: T | undefined }>,
    read: (status: T) => Partial<CacheEntry>,
  ): Promise<void> {
    const sequence = this.#cache.nextSequence();
    const answer = await orUndefined(question, (error) => isCriError(error, 'NOT_FOUND'));
    const status = answer?.status;
    if (status === undefined) return this.#cache.remove(id, sequence);
    const labels = this.#isOurs(status) ? readPodLabels(status.labels, status.annotations) : undefined;
    if (labels !== undefined) this.#cache.put({ id, uid: labels.uid, ...read(status) }, labels, sequence);
  }

  /** Events tell of everything in the runtime. */
  #isOurs({ labels }: Labelled): boolean {
    return labels[nodeLabel] === this.#options.node;
  }
}
