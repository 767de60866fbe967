/** The settings of the model's world: its nodes, pools, times and the mistakes that are planted. */
import type { Pool, Workload } from '@podwire/cluster-state';
import type { Fault } from '@podwire/store/memory';
import { type Disk, network, type TestNode } from './cluster.js';

/** Mistakes that are planted. */
export type Bug = 'blind retry' | 'no look at the presence';

export const names = ['n1', 'n2', 'n3', 'n4'] as const;
/** Milliseconds. */
export const leaseTtl = 10_000;
export const vanishAfter = 100_000;
export const fenceAfter = 90_000;
/** For one call of a node, and of the controller: long enough for others to come in between. */
export const latency = 4;
export const slowly = 400;

const blue = { name: 'blue', cidr: '10.0.0.0/26', blockSize: 29 };
const green: Partial<Pool> = { name: 'green', cidr: '10.1.0.0/29', blockSize: 30 };
export const layouts: readonly (readonly Partial<Pool>[])[] = [
  [blue, green],
  [
    { ...blue, name: 'blue-1', cidr: '10.0.0.0/27' },
    { ...blue, name: 'blue-2', cidr: '10.0.0.32/27', reserved: ['10.0.0.40/29'] },
    green,
  ],
  [{ ...blue, disabled: true }, green],
  [blue],
];

export interface Machine {
  readonly name: string;
  disk: Disk;
  /** Its agent; none while that is down. */
  node: TestNode | undefined;
  readonly faults: Fault[];
  /** When the store has last heard of it. */
  seen: number;
  /** The affinities file of an earlier moment of this boot. */
  old: Disk['file'];
  /** ADDs that have not been answered. */
  readonly running: Set<AbortController>;
  /** How many of its next writes stay on the way until {@link World.arrive}. */
  hanging: number;
  /** Its agent dies at this fault point, when it has passed it so many times. */
  deadly: { readonly point: string; skip: number } | undefined;
}

export interface WorldOptions {
  readonly bug?: Bug;
  /** Pools to choose from; the first at the beginning and in the end. */
  readonly layouts?: readonly (readonly Partial<Pool>[])[];
  /** How many addresses the first of them has for pods. */
  readonly capacity?: number;
}

/** The workload of the model: what may be so for its pods. */
export type Intent = Partial<Pick<Workload, 'addresses' | 'sticky'>>;
export const workload = { network, namespace: 'shop', name: 'web-*' };
