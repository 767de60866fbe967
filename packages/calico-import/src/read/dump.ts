/** Content of a dump, in Calico's own terms. */
import type { AnyObject } from '@podwire/objects';
import type { Diagnostic } from '../diagnostics.js';
import type { BlockSpec, ConfigSpec, PoolSpec } from './shapes.js';

export interface DumpFile {
  /** For messages. */
  readonly name: string;
  readonly text: string;
}

export interface DumpedPool {
  /** `IPPool default-pool`, for messages. */
  readonly object: string;
  readonly name: string;
  /** Being deleted. */
  readonly deleting: boolean;
  readonly spec: PoolSpec;
}

export interface DumpedReservation {
  readonly object: string;
  readonly cidrs: readonly string[];
}

export interface DumpedBlock {
  readonly object: string;
  /** Milliseconds since the epoch; 0: not known. */
  readonly createdAt: number;
  readonly spec: BlockSpec;
}

/** Says that a node wants a block; the block itself says whose it is. */
export interface DumpedAffinity {
  readonly object: string;
  readonly cidr: string;
  readonly node: string;
  readonly type: string;
  readonly state: 'confirmed' | 'pending' | 'pendingDeletion';
}

export interface DumpedHandle {
  readonly object: string;
  readonly id: string;
  /** How many addresses of each block. */
  readonly counts: Readonly<Record<string, number>>;
}

/** A pod that has addresses: a WorkloadEndpoint, or a Pod of Kubernetes. */
export interface DumpedEndpoint {
  readonly object: string;
  readonly node: string;
  /** `default/web-1`; empty for what is no pod. */
  readonly pod: string;
  /** Without lengths. */
  readonly addresses: readonly string[];
}

/** A policy, or what policies speak of, as Podwire has it. */
export interface DumpedPolicyObject {
  readonly object: string;
  readonly value: AnyObject;
  /** Milliseconds since 1970; 0: not known. */
  readonly created: number;
}

export interface Dump {
  readonly policies: readonly DumpedPolicyObject[];
  readonly pools: readonly DumpedPool[];
  readonly reservations: readonly DumpedReservation[];
  readonly config: ConfigSpec | undefined;
  readonly blocks: readonly DumpedBlock[];
  readonly affinities: readonly DumpedAffinity[];
  readonly handles: readonly DumpedHandle[];
  /** Node name to labels; empty when the dump has no nodes. */
  readonly nodes: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly endpoints: readonly DumpedEndpoint[];
  /** Faults and omissions so far. */
  readonly diagnostics: readonly Diagnostic[];
}
