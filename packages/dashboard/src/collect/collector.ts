/** Asks in rounds, keeps the latest picture, and tells listeners what changed. */
import { describeError } from '@podwire/errors';
import { type Clock, Notify, withDeadline } from '@podwire/platform';
import type { NodeAnswers } from '../answers.js';
import { type FoundPod, readNodeDetail, readPodDetail } from '../detail.js';
import { History } from '../history.js';
import type { DashboardView, NodeDetail, PodDetail, ViewChange } from '../shapes.js';
import type { ClusterFacts, DashboardSources, SavedReport } from '../sources.js';
import { buildView, findChange } from '../view/index.js';
import { measurePools } from '../view/pools.js';
import { askNode } from './ask-node.js';

/** Milliseconds. */
const paces = {
  /** Between rounds while a page is open. */
  watched: 1_000,
  /** And while none is: for the trends. */
  alone: 5_000,
  /** The store is not asked in every round: a read is the whole cluster. */
  store: 3_000,
  storeDeadline: 10_000,
} as const;

export class Collector {
  readonly #sources: DashboardSources;
  readonly #clock: Clock;
  readonly #history = new History();
  readonly #listeners = new Set<(change: ViewChange) => void>();
  readonly #wake = new Notify();
  #answers: readonly NodeAnswers[] = [];
  #view: DashboardView;
  #cluster: { readonly facts: ClusterFacts | undefined; readonly failure: string; readonly at: number };

  constructor(sources: DashboardSources, clock: Clock) {
    this.#sources = sources;
    this.#clock = clock;
    this.#cluster = { facts: undefined, failure: '', at: -Infinity };
    this.#view = this.#build([], undefined);
  }

  get view(): DashboardView {
    return this.#view;
  }

  /** The listener is told of later changes only. @returns how to stop being told */
  subscribe(listener: (change: ViewChange) => void): () => void {
    this.#listeners.add(listener);
    this.#wake.notify();
    return () => void this.#listeners.delete(listener);
  }

  /** Until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const begin = this.#clock.elapsed();
      await this.round(signal);
      const took = this.#clock.elapsed() - begin;
      const isWatched = this.#listeners.size > 0;
      // A slow node or a large testbed is not asked all the time.
      const rest = Math.max(isWatched ? paces.watched : paces.alone, 2 * took);
      if (isWatched) await this.#clock.sleep(rest, signal).catch(() => undefined);
      else await this.#wake.notifiedWithin(rest, this.#clock, signal);
    }
  }

  async round(signal: AbortSignal): Promise<void> {
    const { nodes, wording, readReport } = this.#sources;
    const [answers, report] = await Promise.all([
      Promise.all(nodes.map((node) => askNode(node, wording))),
      readReport?.().catch(() => undefined),
      this.#askStore(signal),
    ]);
    if (signal.aborted) return;
    this.#answers = answers;
    this.#history.noteDrift(answers);
    this.#history.notePools(this.#clock.now(), measurePools(answers, this.#cluster.facts?.shown));
    const before = this.#view;
    this.#view = this.#build(answers, report);
    const change = findChange(before, this.#view);
    if (change !== undefined) for (const listener of this.#listeners) listener(change);
  }

  async #askStore(signal: AbortSignal): Promise<void> {
    const { readCluster } = this.#sources;
    const at = this.#clock.elapsed();
    if (readCluster === undefined || at - this.#cluster.at < paces.store) return;
    try {
      const facts = await withDeadline(signal, paces.storeDeadline, readCluster);
      this.#cluster = { facts, failure: '', at };
    } catch (error) {
      this.#cluster = { facts: this.#cluster.facts, failure: describeError(error), at };
    }
  }

  #build(answers: readonly NodeAnswers[], report: SavedReport | undefined): DashboardView {
    const { facts: cluster, failure: clusterFailure } = this.#cluster;
    const { trends, drifts } = this.#history;
    const { title, wording } = this.#sources;
    return buildView({ title, answers, cluster, clusterFailure, report, trends, drifts }, wording);
  }

  /** @returns undefined when there is no such pod (any more) */
  async podDetail(id: string): Promise<PodDetail | undefined> {
    const found = this.#findPod(id);
    return found && readPodDetail(found, this.#sources);
  }

  /** @returns undefined for a node that this page cannot ask */
  async nodeDetail(name: string): Promise<NodeDetail | undefined> {
    const at = this.#answers.findIndex((each) => each.name === name);
    const source = this.#sources.nodes[at];
    return source && readNodeDetail(source, this.#sources.wording);
  }

  #findPod(id: string): FoundPod | undefined {
    const row = this.#view.pods.find((each) => each.id === id);
    const at = this.#answers.findIndex(({ name }) => name === row?.node);
    const [source, answers] = [this.#sources.nodes[at], this.#answers[at]];
    if (row === undefined || source === undefined || answers === undefined) return undefined;
    const pod = answers.pods?.find(({ uid }) => id === `${row.node} ${row.namespace}/${row.name} ${uid}`);
    const endpoint = answers.endpoints.find(({ key }) => key === row.endpoint);
    return { source, answers, pod, endpoint };
  }
}
