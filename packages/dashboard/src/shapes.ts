/** Input of the page as plain data: the server makes it, the browser draws it. Times are milliseconds of the epoch. */

export type Level = 'good' | 'busy' | 'bad' | 'unknown';

export interface DashboardView {
  /** `node web-1`, `testbed default` */
  readonly title: string;
  readonly nodes: readonly NodeRow[];
  readonly pods: readonly PodRow[];
  readonly pools: readonly PoolRow[];
  readonly peers: readonly PeerRow[];
  readonly sessions: readonly SessionRow[];
  readonly matrix: MatrixView | null;
  readonly drift: readonly DriftRow[];
  readonly errors: readonly ErrorRow[];
  /** Parts that the page does not show, and why. */
  readonly notes: readonly string[];
}

export interface NodeRow {
  readonly name: string;
  readonly level: Level;
  /** `ready`, `not ready`, `no answer`, `unreachable` … */
  readonly state: string;
  /** Why it is not ready, and what else is wrong. */
  readonly reasons: readonly string[];
  readonly version: string | null;
  readonly startedAt: number | null;
  /** Bytes. */
  readonly memory: number | null;
  readonly addresses: readonly string[];
  readonly networks: readonly string[];
  readonly endpoints: { readonly ready: number; readonly busy: number };
  readonly lease: LeaseView | null;
  readonly blocks: number;
  readonly borrowed: number;
  readonly addressesInUse: number;
  readonly reconcile: { readonly at: number; readonly changes: number; readonly failures: number } | null;
  readonly adds: AddTimes | null;
}

/** A node's place in its cluster. */
export interface LeaseView {
  readonly level: Level;
  readonly state: string;
  /** Since when it is so. */
  readonly since: number | null;
  /** When the store last confirmed what the node has. */
  readonly confirmedAt: number | null;
  readonly leading: boolean;
}

/** Milliseconds of the latest ADDs. */
export interface AddTimes {
  readonly count: number;
  readonly median: number;
  readonly slowest: number;
}

export interface PodRow {
  /** Unique: `NODE NAMESPACE/NAME UID`. */
  readonly id: string;
  readonly node: string;
  readonly namespace: string;
  readonly name: string;
  readonly level: Level;
  readonly state: string;
  readonly reason: string;
  /** `1/2` containers; empty where no pod agent is asked. */
  readonly ready: string;
  readonly restarts: number;
  readonly addresses: readonly string[];
  readonly since: number | null;
  /** Its link on the node. */
  readonly hostLink: string;
  readonly network: string;
  /** The endpoint's key, where it has a network of ours. */
  readonly endpoint: string | null;
}

export interface PoolRow {
  readonly name: string;
  readonly network: string;
  readonly cidr: string;
  readonly state: string;
  /** Text, since an IPv6 pool has more than a number can hold. */
  readonly total: string;
  readonly free: string;
  readonly used: number;
  readonly lent: number;
  readonly cooling: number;
  /** Part of the pool that is in use, 0 to 1. */
  readonly share: number;
  /** Addresses of all blocks of it. */
  readonly inBlocks: number;
  readonly blocks: readonly BlockRow[];
  /** Blocks that are left out of the list. */
  readonly more: number;
  readonly trend: readonly TrendPoint[];
}

export interface BlockRow {
  readonly cidr: string;
  readonly node: string;
  readonly size: number;
  readonly used: number;
  readonly lent: number;
}

export interface TrendPoint {
  readonly at: number;
  readonly used: number;
}

export interface PeerRow {
  readonly node: string;
  readonly peer: string;
  readonly level: Level;
  readonly addresses: readonly string[];
  readonly path: string;
  readonly blocks: number;
  readonly resources: number;
  readonly problems: readonly string[];
}

/** A BGP session. */
export interface SessionRow {
  readonly node: string;
  readonly router: string;
  readonly state: string;
  readonly level: Level;
  readonly since: string;
  readonly lastError: string;
}

export interface MatrixView {
  readonly at: number;
  readonly ok: boolean;
  readonly good: number;
  readonly all: number;
  readonly columns: readonly string[];
  readonly rows: readonly {
    readonly from: string;
    readonly cells: readonly (MatrixCell | null)[];
  }[];
  /** Participants that are left out. */
  readonly more: number;
}

export interface MatrixCell {
  readonly good: number;
  readonly all: number;
  /** Median of the answers, milliseconds. */
  readonly time: number;
  /** The first thing that was wrong. */
  readonly problem: string;
}

/** A resource that was not in the kernel as planned, and the action of a reconcile. */
export interface DriftRow {
  readonly at: number;
  readonly node: string;
  readonly action: string;
  readonly what: string;
  readonly owner: string;
  /** The program that changed it, or why it could not be repaired; empty where that is not known. */
  readonly detail: string;
}

export interface ErrorRow {
  readonly id: string;
  /** `null`: it is so now. */
  readonly at: number | null;
  readonly node: string;
  readonly subject: string;
  readonly code: string;
  readonly message: string;
  /** Of its code; both may be empty. */
  readonly meaning: string;
  readonly action: string;
  readonly count: number;
}

/** Everything of one pod, asked for when it is opened. */
export interface PodDetail {
  readonly containers: readonly ContainerRow[];
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly message: string;
  }[];
  readonly events: readonly EventRow[];
  readonly path: readonly PathStep[];
  readonly resources: readonly ResourceRow[];
  readonly waterfall: WaterfallView | null;
  readonly facts: readonly (readonly [string, string])[];
  /** Sources that could not be asked, and why. */
  readonly notes: readonly string[];
}

export interface ContainerRow {
  readonly name: string;
  readonly image: string;
  readonly level: Level;
  readonly state: string;
  readonly restarts: number;
}

export interface EventRow {
  readonly at: number;
  readonly level: Level;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

/** One hop from the pod to what lies beyond its node. */
export interface PathStep {
  readonly where: string;
  readonly title: string;
  readonly lines: readonly string[];
  readonly level: Level;
}

export interface ResourceRow {
  readonly where: string;
  readonly what: string;
  readonly level: Level;
  /** State in the kernel instead. */
  readonly detail: string;
}

export interface WaterfallView {
  /** Milliseconds. */
  readonly total: number;
  readonly rows: readonly WaterfallRow[];
  readonly more: number;
}

export interface WaterfallRow {
  readonly name: string;
  readonly depth: number;
  /** Milliseconds since the first row's start. */
  readonly start: number;
  readonly duration: number;
  readonly failed: string;
}

/** Resources that all pods of a node share, and their state in the kernel. */
export interface NodeDetail {
  readonly resources: readonly ResourceRow[];
  readonly notes: readonly string[];
}

/** Of a stream: first all, then only the parts that changed. */
export type ViewChange = Partial<DashboardView>;
