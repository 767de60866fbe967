/** Answers of the agents, as far as this package reads them. */
import type {
  ClusterStatusView,
  EndpointView,
  ExplainedResource,
  PeerStatusView,
  Trace,
} from '@podwire/agent';
import type { PodView } from '@podwire/podlet';

export interface StatusAnswer {
  readonly node: string;
  readonly version: string;
  /** RFC 3339 */
  readonly startedAt: string;
  readonly ready: boolean;
  readonly problem: string | null;
  readonly recordProblems: readonly string[];
  readonly problems?: readonly string[];
  readonly networks: readonly {
    readonly name: string;
    readonly model: string;
    readonly blocks: readonly string[];
  }[];
  readonly endpoints: { readonly ready: number; readonly wiring: number; readonly removing: number };
  readonly memory: { readonly rss: number };
  readonly lastReconcile: {
    readonly startedAt: number;
    readonly changes: readonly ChangeAnswer[];
    readonly removed: readonly string[];
    readonly failures: readonly string[];
  } | null;
  readonly cluster?: ClusterStatusView | null;
  /** Repairs because of an event of the kernel; absent: an agent that repairs in rounds only. */
  readonly drift?: { readonly last: readonly DriftAnswer[] };
}

export interface DriftAnswer {
  /** RFC 3339 */
  readonly at: string;
  /** The name of the pod, `node` … */
  readonly owner: string;
  readonly what: string;
  readonly action: string;
  /** The program that changed it, as far as the kernel reports it. */
  readonly by?: string;
  readonly error?: string;
}

export interface ChangeAnswer {
  readonly owner?: string;
  readonly action: string;
  readonly what: string;
}

export interface IpamAnswer {
  readonly networks: readonly { readonly network: string; readonly pools: readonly PoolAnswer[] }[];
}

export interface PoolAnswer {
  readonly name: string;
  readonly cidr: string;
  readonly size: string;
  readonly used: number;
  readonly cooling: number;
  readonly reserved: string;
  readonly free: string;
  readonly blocks: readonly {
    readonly cidr: string;
    readonly used: number;
    readonly free: number;
    readonly cooling: number;
    readonly reserved: number;
    /** Borrowed by pods of other nodes; older agents leave it out. */
    readonly lent?: number;
  }[];
}

export interface SessionAnswer {
  readonly neighbour: string;
  readonly state: string;
  readonly since: string;
  readonly lastError?: string;
}

/** Everything that one node said in one round; `undefined` where it did not answer. */
export interface NodeAnswers {
  readonly name: string;
  readonly status: StatusAnswer | undefined;
  /** Why there is no status. */
  readonly failure: string;
  readonly endpoints: readonly EndpointView[];
  readonly ipam: IpamAnswer | undefined;
  readonly peers: readonly PeerStatusView[];
  readonly sessions: readonly SessionAnswer[];
  readonly traces: readonly Trace[];
  /** `undefined`: no pod agent answers, or there is none. */
  readonly pods: readonly PodView[] | undefined;
  readonly podProblems: readonly string[];
}

export interface ExplainAnswer {
  readonly resources: readonly ExplainedResource[];
}

export type { EndpointView, PeerStatusView, PodView, Trace };
