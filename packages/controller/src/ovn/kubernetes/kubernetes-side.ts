/** The side towards an API server: four informers, what they have in memory, answers in annotations, and events. */
import type { Annotations, Labels } from '@podwire/cluster-ovn';
import type { OvnPodRecord } from '@podwire/cluster-state';
import { type ApiObject, type KubernetesClient, runInformer } from '@podwire/kubernetes-client';
import { type Clock, type Log, orAborted } from '@podwire/platform';
import { AnnotationWriter, type AppliedPods } from './annotation-writer.js';
import { ClusterView, type KindName } from './cluster-view.js';
import type { ReadObject } from './contract.js';
import { EventWriter } from './event-writer.js';
import type { ChangedIds } from './named-copy.js';
import { readNamespace, readNode, readPod, readStatefulSet } from './read-objects.js';

export interface KubernetesSideOptions {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  /** 0 to 1. */
  readonly random: () => number;
  readonly log: Log;
}

const paths: Readonly<Record<KindName, string>> = {
  pods: '/api/v1/pods',
  namespaces: '/api/v1/namespaces',
  statefulSets: '/apis/apps/v1/statefulsets',
  nodes: '/api/v1/nodes',
};

const words: Readonly<Record<KindName, string>> = {
  ...{ pods: 'pods', namespaces: 'namespaces', statefulSets: 'stateful sets', nodes: 'nodes' },
};

export class KubernetesSide {
  readonly view = new ClusterView();
  readonly #options: KubernetesSideOptions;
  readonly #writer: AnnotationWriter;
  readonly #events: EventWriter;
  readonly #missing = new Set<KindName>(Object.keys(paths) as KindName[]);
  readonly #troubles = new Set<KindName>();
  #noteSynced: () => void = () => undefined;
  readonly #synced = new Promise<void>((resolve) => (this.#noteSynced = resolve));
  #onChange: () => void = () => undefined;

  constructor(options: KubernetesSideOptions) {
    this.#options = options;
    this.#writer = new AnnotationWriter({ ...options, view: this.view });
    this.#events = new EventWriter({ ...options, view: this.view });
  }

  /** Lists that the API server has not sent yet; each begins with a code. */
  get missing(): readonly string[] {
    return [...this.#missing].map(
      (kind) =>
        `BACKEND_SILENT: the API server's ${words[kind]} are not there yet: addresses of pods wait for them`,
    );
  }

  /** Resolves when all four lists are there, or the signal aborts. Before, pods that are not known are not gone. */
  untilSynced(signal: AbortSignal): Promise<void> {
    return orAborted(this.#synced, signal).catch(() => undefined);
  }

  /** Calls back when objects are other than before. One listener. */
  listen(onChange: () => void): void {
    this.#onChange = onChange;
  }

  /** @param nodes by name, where any of them may be other than before: then these pods are all there are */
  noteApplied(pods: AppliedPods, nodes?: ReadonlyMap<string, Annotations>): void {
    if (nodes === undefined) this.#writer.notePods(pods);
    else this.#writer.noteAll(pods, nodes);
  }

  /** @param labels for provider networks, by the names of nodes */
  noteLabels(labels: ReadonlyMap<string, Labels>): void {
    this.#writer.noteLabels(labels);
  }

  /** @param pods without rows, by id: all there are. Those that cannot have an address are told why, by events */
  noteWaiting(pods: ReadonlyMap<string, OvnPodRecord>): void {
    this.#events.note(pods);
  }

  /** Once, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { view } = this;
    await Promise.all([
      this.#follow('pods', readPod, (...news) => this.#checkPods(view.updatePods(...news)), signal),
      this.#follow(
        'namespaces',
        readNamespace,
        (...news) => this.#tell(view.updateNamespaces(...news)),
        signal,
      ),
      this.#follow(
        'statefulSets',
        readStatefulSet,
        (...news) => this.#tell(view.updateStatefulSets(...news)),
        signal,
      ),
      this.#follow('nodes', readNode, (...news) => this.#checkNodes(view.updateNodes(...news)), signal),
    ]);
    await Promise.all([this.#writer.stop(), this.#events.stop()]);
  }

  #follow<T>(
    kind: KindName,
    read: (object: ApiObject) => ReadObject<T>,
    update: (objects: ReadonlyMap<string, ReadObject<T>>, uid?: string) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, clock, random } = this.#options;
    const onChange = (objects: ReadonlyMap<string, ReadObject<T>>, uid?: string): void => {
      update(objects, uid);
      this.#missing.delete(kind);
      if (this.#missing.size === 0) this.#noteSynced();
    };
    const onTrouble = (error: unknown): void => this.#noteTrouble(kind, error);
    const options = { client, path: paths[kind], clock, random, read, onChange, onTrouble };
    // A signal of its own, since Node warns of more than ten listeners of one.
    return runInformer(options, AbortSignal.any([signal]));
  }

  #tell(changed: ChangedIds): void {
    if (changed === undefined || changed.length > 0) this.#onChange();
  }

  #checkPods(changed: ChangedIds): void {
    this.#tell(changed);
    if (changed === undefined) this.#writer.checkAll();
    else for (const id of changed) this.#writer.checkPod(id);
  }

  #checkNodes(changed: ChangedIds): void {
    this.#tell(changed);
    if (changed === undefined) this.#writer.checkAll();
    else for (const name of changed) this.#writer.checkNode(name);
  }

  #noteTrouble(kind: KindName, err: unknown): void {
    const { log } = this.#options;
    if (err === undefined) {
      if (this.#troubles.delete(kind)) log.info({ kind }, 'the API server is followed again');
    } else if (!this.#troubles.has(kind)) {
      this.#troubles.add(kind);
      log.warn({ err, kind }, 'the API server cannot be followed; it is tried again');
    }
  }
}
