/** Answers of the agent, as far as this program reads them. `-o json` prints the answers as they are. */
import type { ClusterStatusView, ConfigurationView, DriftView, PeerStatusView, Trace } from '@podwire/agent';

export type {
  ClusterStatusView,
  ConfigurationView,
  DriftEntry,
  DriftView,
  EndpointView,
  ExplainedResource,
  PeerStatusView,
  Plan,
  ReconcileReport,
  StageSpan,
  Trace,
} from '@podwire/agent';

export interface StatusView {
  readonly node: string;
  readonly version: string;
  readonly pid: number;
  /** RFC 3339 */
  readonly startedAt: string;
  /** Absent: an agent of an earlier version. */
  readonly configuration?: ConfigurationView;
  readonly ready: boolean;
  readonly problem: string | null;
  readonly recordProblems: readonly string[];
  /** Absent: an agent of an earlier version. */
  readonly problems?: readonly string[];
  /** Absent: an agent of an earlier version. */
  readonly warnings?: readonly string[];
  readonly networks: readonly NetworkStatus[];
  readonly endpoints: { readonly ready: number; readonly wiring: number; readonly removing: number };
  readonly connections: number;
  /** bytes */
  readonly memory: { readonly rss: number };
  readonly lastReconcile: {
    readonly startedAt: number;
    readonly duration: number;
    readonly changes: readonly unknown[];
    readonly removed: readonly string[];
    readonly failures: readonly string[];
  } | null;
  /** Absent: an agent of an earlier version. */
  readonly drift?: DriftView;
  /** `null` on a node that is alone; older agents leave it out. */
  readonly cluster?: ClusterStatusView | null;
}

export interface PeersView {
  readonly peers: readonly PeerStatusView[];
}

export interface NetworkStatus {
  readonly name: string;
  readonly model: string;
  readonly pools: readonly { readonly name: string; readonly cidr: string; readonly natOutgoing: boolean }[];
  readonly blocks: readonly string[];
  readonly mtu: number;
  readonly ipv6: boolean;
  /** Of its model. Absent: an agent of an earlier version. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface IpamView {
  readonly networks: readonly {
    readonly network: string;
    readonly pools: readonly PoolView[];
    readonly leases: readonly LeaseView[];
    readonly foreign: readonly { readonly address: string; readonly owner: string; readonly pod?: string }[];
  }[];
}

/** Numbers of addresses are text where an IPv6 pool has more than a JSON number can count. */
export interface PoolView {
  readonly name: string;
  readonly cidr: string;
  readonly size: string;
  readonly used: number;
  readonly cooling: number;
  readonly reserved: string;
  readonly free: string;
  readonly blocks: readonly BlockView[];
}

export interface BlockView {
  readonly cidr: string;
  readonly used: number;
  readonly free: number;
  readonly cooling: number;
  readonly reserved: number;
}

export interface LeaseView {
  readonly address: string;
  readonly pool: string;
  readonly owner: string;
  /** `namespace/name`, where it is known. */
  readonly pod?: string;
  /** RFC 3339 */
  readonly since: string;
}

export interface TracesView {
  readonly traces: readonly Trace[];
}
