/** Where the data comes from. The command line wires it: sockets of agents, a store, a file. */
import type { EndpointView, Trace } from '@podwire/agent';
import type { ClusterShown, NodeShown } from '@podwire/cluster-ipam/operations';
import type { Resource } from '@podwire/engine';
import type { LocalApi } from '@podwire/local-api';
import type { PodView, SourceProblem } from '@podwire/podlet';
import type { ConnectivityReport } from '@podwire/testbed';
import type { Span } from '@podwire/tracing';
import type { Level } from './shapes.js';

export type Asking = Pick<LocalApi, 'get' | 'socket'>;

/** A node: its agent, and its pod agent where one may be. */
export interface NodeSource {
  readonly name: string;
  readonly agent: Asking;
  readonly pods?: Asking;
}

/** The cluster as the store has it. */
export interface ClusterFacts {
  readonly nodes: readonly NodeShown[];
  readonly shown: ClusterShown;
}

/** The last result of `podwire connectivity test`. */
export interface SavedReport extends ConnectivityReport {
  /** When it ended, milliseconds since the epoch. */
  readonly at: number;
}

/** How other parts of the program speak of a thing, so that it is said in one way everywhere. */
export interface Wording {
  readonly describePod: (pod: PodView) => {
    readonly level: Level;
    readonly state: string;
    readonly reason: string;
  };
  readonly describeProblem: (problem: SourceProblem) => string;
  readonly describeResource: (resource: Resource) => string;
  /** `node`, `pod` or `node+pod`. */
  readonly placeOf: (resource: Resource) => string;
}

export interface DashboardSources {
  readonly title: string;
  readonly nodes: readonly NodeSource[];
  readonly wording: Wording;
  /** The spans from the manifest to each resource of the network. */
  readonly readSpans: (node: NodeSource, pod: PodView, traces: readonly Trace[]) => Promise<readonly Span[]>;
  /** Absent: no store is named. */
  readonly readCluster?: (signal: AbortSignal) => Promise<ClusterFacts>;
  /** Undefined where no test was run yet. */
  readonly readReport?: () => Promise<SavedReport | undefined>;
}

export type { EndpointView, PodView, Trace };
