/** Tells pods of the API server why they have no address, in the background. Nothing waits for it. */
import type { OvnPodRecord } from '@podwire/cluster-state';
import { isAboutAnother, type KubernetesClient } from '@podwire/kubernetes-client';
import { problemAnnotation } from '@podwire/objects/kube-ovn-names';
import { type Clock, type Log, Workqueue } from '@podwire/platform';
import type { ClusterView } from './cluster-view.js';
import { planEvent } from './plan-event.js';
import { RateLimit } from './rate-limit.js';

export interface EventWriterOptions {
  readonly client: Pick<KubernetesClient, 'request'>;
  readonly view: Pick<ClusterView, 'pod'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds. A reason that is over by then is no news: a new cluster has no subnet for a moment. */
const delay = 1_000;
const backoff = { first: 1_000, longest: 60_000 } as const;
/** A subnet that is full is news of each of its pods. */
const rate = { perSecond: 5, burst: 25 } as const;

export class EventWriter {
  readonly #options: EventWriterOptions;
  readonly #limit: RateLimit;
  readonly #queue: Workqueue<string>;
  /** By id of the pod: those that wait, with the reason. */
  readonly #waiting = new Map<string, OvnPodRecord>();
  #isFailing = false;

  constructor(options: EventWriterOptions) {
    this.#options = options;
    this.#limit = new RateLimit(options.clock, rate);
    this.#queue = new Workqueue({
      reconcile: (id, signal) => this.#write(id, signal),
      onError: (error) => this.#complain(error),
      clock: options.clock,
      ...{ delay, backoff, holdBackoff: true },
    });
  }

  /** @param waiting pods that have no rows yet, by id: all there are */
  note(waiting: ReadonlyMap<string, OvnPodRecord>): void {
    for (const id of this.#waiting.keys()) if (!waiting.has(id)) this.#waiting.delete(id);
    for (const [id, record] of waiting) {
      if (record.annotations[problemAnnotation] === undefined) continue;
      const before = this.#waiting.get(id);
      this.#waiting.set(id, record);
      if (!isSameReason(before, record)) this.#queue.add(id);
    }
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  async #write(id: string, signal: AbortSignal): Promise<void> {
    await this.#limit.wait(signal);
    const { view, client, clock } = this.#options;
    const event = planEvent(view.pod(id)?.object, this.#waiting.get(id), clock.now());
    if (event === undefined) return;
    try {
      await client.request('POST', event.path, { signal, body: event.body });
    } catch (error) {
      // It is there already, or the namespace is gone.
      if (!isAboutAnother(error)) throw error;
    }
    this.#isFailing = false;
  }

  /** Once, since all of them fail while the server is away. */
  #complain(err: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#options.log.warn(
      { err },
      'events of pods could not be written into the API server; it is tried again',
    );
  }
}

const isSameReason = (one: OvnPodRecord | undefined, other: OvnPodRecord): boolean =>
  one?.uid === other.uid && one.annotations[problemAnnotation] === other.annotations[problemAnnotation];
