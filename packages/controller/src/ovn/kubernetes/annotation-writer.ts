/** Writes answers into annotations of pods and nodes of the API server, and labels of nodes, in the background. Nothing waits for it. */
import type { Annotations, Labels } from '@podwire/cluster-ovn';
import type { OvnPodRecord } from '@podwire/cluster-state';
import { isAboutAnother, type KubernetesClient } from '@podwire/kubernetes-client';
import { type Clock, type Log, Workqueue } from '@podwire/platform';
import type { ClusterView } from './cluster-view.js';
import { type AnnotationPatch, planNodePatch, planPodPatch } from './plan-patch.js';
import { RateLimit } from './rate-limit.js';

export interface AnnotationWriterOptions {
  readonly client: Pick<KubernetesClient, 'request'>;
  readonly view: Pick<ClusterView, 'pod' | 'node'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Pods with their rows in the logical network, by id; undefined: it is gone. */
export type AppliedPods = ReadonlyMap<string, OvnPodRecord | undefined>;

const backoff = { first: 1_000, longest: 60_000 } as const;
/** Requests at once. */
const concurrency = 4;
const rate = { perSecond: 50, burst: 100 } as const;

type Target = `pod ${string}` | `node ${string}`;

export class AnnotationWriter {
  readonly #options: AnnotationWriterOptions;
  readonly #limit: RateLimit;
  readonly #queue: Workqueue<Target>;
  readonly #pods = new Map<string, OvnPodRecord>();
  #nodes: ReadonlyMap<string, Annotations> = new Map();
  #labels: ReadonlyMap<string, Labels> = new Map();
  /** Those that could not be written at their last attempts. */
  readonly #failing = new Set<Target>();

  constructor(options: AnnotationWriterOptions) {
    this.#options = options;
    this.#limit = new RateLimit(options.clock, rate);
    this.#queue = new Workqueue({
      reconcile: (target, signal) => this.#write(target, signal),
      onError: (error, target) => this.#complain(error, target),
      clock: options.clock,
      ...{ backoff, concurrency, holdBackoff: true },
    });
  }

  /** These pods have their rows, or are gone; others are as before. */
  notePods(applied: AppliedPods): void {
    this.#take(applied);
    for (const id of applied.keys()) this.checkPod(id);
  }

  /** Pods and nodes that are in the logical network: all there are. */
  noteAll(applied: AppliedPods, nodes: ReadonlyMap<string, Annotations>): void {
    this.#pods.clear();
    this.#nodes = nodes;
    this.#take(applied);
    this.checkAll();
  }

  /** For provider networks, by the name of the node. Those of other nodes stay. */
  noteLabels(labels: ReadonlyMap<string, Labels>): void {
    this.#labels = labels;
    for (const name of labels.keys()) this.checkNode(name);
  }

  #take(applied: AppliedPods): void {
    for (const [id, record] of applied)
      if (record === undefined) this.#pods.delete(id);
      else this.#pods.set(id, record);
  }

  /** The API server has another version of it. */
  checkPod(id: string): void {
    if (this.#pods.has(id)) this.#queue.add(`pod ${id}`);
  }

  checkNode(name: string): void {
    if (this.#nodes.has(name) || this.#labels.has(name)) this.#queue.add(`node ${name}`);
  }

  checkAll(): void {
    for (const id of this.#pods.keys()) this.checkPod(id);
    for (const name of new Set([...this.#nodes.keys(), ...this.#labels.keys()])) this.checkNode(name);
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  async #write(target: Target, signal: AbortSignal): Promise<void> {
    if (this.#plan(target) !== undefined) {
      await this.#limit.wait(signal);
      const patch = this.#plan(target);
      if (patch !== undefined) await this.#send(patch, signal);
    }
    if (this.#failing.delete(target) && this.#failing.size === 0) this.#noteRecovery();
  }

  #noteRecovery(): void {
    this.#options.log.info({}, 'annotations are written into the API server again');
  }

  #plan(target: Target): AnnotationPatch | undefined {
    const { view } = this.#options;
    const name = target.slice(target.indexOf(' ') + 1);
    return target.startsWith('pod ')
      ? planPodPatch(view.pod(name)?.object, this.#pods.get(name))
      : planNodePatch(view.node(name), {
          annotations: this.#nodes.get(name),
          labels: this.#labels.get(name),
        });
  }

  /** A merge patch changes the keys that it names alone. @throws KubernetesError; the connection's errors */
  async #send({ path, ...metadata }: AnnotationPatch, signal: AbortSignal): Promise<void> {
    const contentType = 'application/merge-patch+json';
    const body = { metadata };
    try {
      await this.#options.client.request('PATCH', path, { signal, body, contentType });
    } catch (error) {
      // The informer reports what is there by now.
      if (!isAboutAnother(error)) throw error;
    }
  }

  /** Once, since all of them fail while the server is away. */
  #complain(err: unknown, target: Target): void {
    const isKnown = this.#failing.size > 0;
    this.#failing.add(target);
    if (isKnown) return;
    const message = 'annotations could not be written into the API server; it is tried again';
    this.#options.log.warn({ err, target }, message);
  }
}
