/** The pod agent as its own API sees it. */
import type { CriRuntime } from '@podwire/cri';
import type { Pod } from '@podwire/pod-spec';
import type { Span } from '@podwire/tracing';
import type { PodEventRecord, PodView, SourceName, SourceProblem } from '../contract.js';
import type { HeldPods } from '../sources/held-pods.js';
import type { SourcePlaces } from '../sources/source-set.js';

/** A change for a watcher. The first one has everything. */
export type PodChange =
  | { readonly kind: 'all'; readonly pods: readonly PodView[]; readonly problems: readonly SourceProblem[] }
  | { readonly kind: 'pod'; readonly pod: PodView }
  | { readonly kind: 'gone'; readonly uid: string; readonly namespace: string; readonly name: string }
  | { readonly kind: 'problems'; readonly problems: readonly SourceProblem[] };

export interface PodletApi {
  readonly node: string;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** As it names itself, with its version. */
  readonly runtimeName: string;
  readonly runtime: Pick<CriRuntime, 'exec' | 'attach' | 'portForward' | 'podSandboxStats'>;
  /** The sources that can be changed while it runs. */
  readonly sources: Partial<Readonly<Record<SourceName, SourcePlaces>>>;
  pods(): readonly PodView[];
  problems(): readonly SourceProblem[];
  /** Of a pod that is known; see `pods`. */
  manifest(uid: string): Pod | undefined;
  /** Of all pods, the latest last, also of pods that have ended. */
  events(): readonly PodEventRecord[];
  /** Told of each that is there, and of each to come. @returns how to stop being told */
  subscribeEvents(listener: (event: PodEventRecord) => void): () => void;
  /** The first thing told is everything. @returns how to stop being told */
  subscribe(listener: (change: PodChange) => void): () => void;
  spans(uid: string): readonly Span[];
  /** How the CNI network was chosen; undefined where the runtime sees to networks itself (containerd). */
  explainNetwork?(): Promise<unknown>;
  /** Pods that were stopped or removed by name; absent where no manifests are read. */
  readonly held?: Pick<HeldPods, 'all' | 'kindOf' | 'hold' | 'release'>;
  /** Starts containers of a pod anew. */
  restart(uid: string, names: readonly string[]): void;
  /** Content of its file when it was loaded last; `reload` loads it again. */
  readonly configuration?: { view(): object; reload(): object };
  /** Ends the pod agent; pods go on. */
  shutDown(): void;
}
