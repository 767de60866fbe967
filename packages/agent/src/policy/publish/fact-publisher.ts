/** Tells the other nodes what the pods of this one are, in the background: no ADD and no DEL waits for the store. */
import { type Keys, type PodFacts, podFactsKind } from '@podwire/cluster-state';
import type { PodKey } from '@podwire/policy';
import { type Clock, withDeadline, Workqueue } from '@podwire/platform';
import { encodeObject, type Store } from '@podwire/store';
import type { Log } from '../../log.js';

export interface FactPublisherOptions {
  readonly node: string;
  readonly store: Store;
  readonly keys: Keys;
  /** Facts that the store should have about a pod of this node now; undefined: none. */
  readonly read: (pod: PodKey) => PodFacts | undefined;
  readonly localPods: () => Iterable<PodKey>;
  /** Another agent may have the node's name: then nothing is written. */
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

type Job = PodKey | typeof everything;

/** Compares what the store has of this node with what is there. */
const everything = Symbol('all pods of the node');
/** Milliseconds. */
const callDeadline = 5_000;
const retryAfter = 1_000;
const backoff = { first: 200, longest: 10_000 } as const;
/** A node that starts has some hundred pods to tell of. */
const concurrency = 8;

export class FactPublisher {
  readonly #options: FactPublisherOptions;
  readonly #queue: Workqueue<Job>;
  /** Text that is in the store, as far as this agent has written or read it. */
  readonly #written = new Map<PodKey, string>();

  constructor(options: FactPublisherOptions) {
    this.#options = options;
    this.#queue = new Workqueue<Job>({
      reconcile: (job, signal) => (job === everything ? this.#compare(signal) : this.#publish(job, signal)),
      onError: (err, job) =>
        job === everything
          ? options.log.warn({ err }, 'what policy knows of pods cannot be compared with the store')
          : options.log.warn({ err, pod: job }, 'what policy knows of a pod did not reach the store'),
      clock: options.clock,
      backoff,
      concurrency,
      holdBackoff: true,
    });
  }

  /** How many pods the store does not have as they are. */
  get pending(): number {
    return this.#queue.size;
  }

  start(): void {
    this.#queue.add(everything);
  }

  /** The pod has come, gone or changed. */
  note(pod: PodKey): void {
    this.#queue.add(pod);
  }

  /** The store has nothing about the pod any more. Where others have done that (`ipam release`, by mistake or in a partition), it comes back. */
  noteLost(pod: PodKey): void {
    if (!this.#written.delete(pod)) return;
    this.#queue.add(pod);
  }

  async stop(): Promise<void> {
    await this.#queue.stop();
  }

  async #compare(signal: AbortSignal): Promise<{ requeueAfter: number } | void> {
    const { store, keys, node, mayWrite, localPods } = this.#options;
    if (!mayWrite()) return { requeueAfter: retryAfter };
    const folder = keys.podFactsOf(node);
    const { items } = await withDeadline(signal, callDeadline, (limit) =>
      store.list(folder, { signal: limit }),
    );
    for (const { key, value } of items) {
      const pod = key.slice(folder.length);
      this.#written.set(pod, value);
      this.#queue.add(pod);
    }
    for (const pod of localPods()) this.#queue.add(pod);
  }

  async #publish(pod: PodKey, signal: AbortSignal): Promise<{ requeueAfter: number } | void> {
    const { store, keys, node, read, mayWrite } = this.#options;
    if (!mayWrite()) return { requeueAfter: retryAfter };
    const [namespace = '', name = ''] = pod.split('/');
    const key = keys.podFacts(node, namespace, name);
    const facts = read(pod);
    const text = facts === undefined ? undefined : encodeObject(podFactsKind, facts);
    if (text !== undefined && this.#written.get(pod) === text) return;
    await withDeadline(signal, callDeadline, async (limit) => {
      // Not certain until it is done.
      this.#written.delete(pod);
      if (text === undefined) await store.delete(key, { signal: limit });
      else await store.put(key, text, { signal: limit });
    });
    if (text !== undefined) this.#written.set(pod, text);
  }
}
