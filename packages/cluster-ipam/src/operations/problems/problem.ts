/** The problems that a check finds, and their repairs: both are data. */
import type { Keys, AllocationRecord, Stored } from '@podwire/cluster-state';
import type { Condition, Transaction } from '@podwire/store';
import type { ClusterSnapshot } from '../snapshot.js';

/**
 * `leaked`: in the allocation record of a node that is gone or does not own the block. `doubled`: in use twice. `outside`: in no
 * pool, or not as its pool requires. `orphaned`: its owner is gone. `pending`: claimed but not confirmed. `unreadable`.
 */
export type ProblemKind = 'leaked' | 'doubled' | 'outside' | 'orphaned' | 'pending' | 'unreadable';

export interface Problem {
  /** The same thing found again has the same; the same address in other hands has another. */
  readonly id: string;
  readonly kind: ProblemKind;
  /** `block 10.244.0.0/26`, `ledger of n1 for 10.244.0.0/26`, … */
  readonly subject: string;
  readonly message: string;
  /** The node that has to do with it. */
  readonly node?: string;
  readonly addresses: readonly string[];
  readonly fix: Fix;
}

export type Fix =
  /** Problems of one object share one fix: the same object in memory. */
  Repair | { readonly how: 'leave'; readonly why: string };

export interface Repair {
  readonly how: 'write';
  /** `deletes the block`, in words. */
  readonly what: string;
  /**
   * Depends on the revisions of what was seen, and on the absence of the nodes that could object: whatever changed since, it is not
   * written.
   */
  readonly transaction: Transaction;
  /** A running node may not have reported yet what makes this right: only when it was found before, a while ago. */
  readonly patient: boolean;
}

export interface ProblemOptions {
  readonly keys: Keys;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Milliseconds during which new objects are left alone. */
  readonly grace: number;
  /** Milliseconds after which a claim must have been confirmed. */
  readonly pendingLimit: number;
  /** Milliseconds after which a borrow request is stale. */
  readonly requestLimit: number;
}

/** Evidence in which problems are found. */
export interface Evidence extends ProblemOptions {
  readonly snapshot: ClusterSnapshot;
  /** The repair of a block, by key: one for all of its problems, since the second of two writes would find it changed. */
  readonly blockFixes: Map<string, Fix>;
  /** `CIDR NODE` of allocation records that only an import has written. */
  readonly importedRecords: ReadonlySet<string>;
  /** By key. */
  readonly allocationRecords: ReadonlyMap<string, Stored<AllocationRecord>>;
}

/** Reports if the pods that an import found there may be alive or not. */
export function isUnheard({ snapshot, importedRecords }: Evidence, cidr: string, node: string): boolean {
  return importedRecords.has(`${cidr} ${node}`) && nodeStateOf(snapshot, node) === 'unknown';
}

export const whyUnheard = (node: string): Fix =>
  leave(
    `it was imported, and its pods may be alive: start the agent of ${node}, or \`podwire nodes forget ${node}\``,
  );

export const leave = (why: string): Fix => ({ how: 'leave', why });

export const repair = (what: string, transaction: Transaction, patient = false): Repair => ({
  how: 'write',
  what,
  transaction,
  patient,
});

/** `present`: in touch with the store. `registered`: it was, and may come back. `unknown`: no such node. */
export type NodeState = 'present' | 'registered' | 'unknown';

export function nodeStateOf({ nodeLeases, nodes }: ClusterSnapshot, node: string): NodeState {
  if (nodeLeases.has(node)) return 'present';
  return nodes.has(node) ? 'registered' : 'unknown';
}

/** That no node of this name came (back) since it was looked. */
export function stillUnknown({ keys }: Pick<ProblemOptions, 'keys'>, node: string): Condition[] {
  return [
    { key: keys.nodeLease(node), expect: 'absent' },
    { key: keys.node(node), expect: 'absent' },
  ];
}

/** Why addresses of a registered node are left alone. */
export function whyNot(node: string, nodeState: NodeState): string {
  if (nodeState === 'present') return `node ${node} is up and says so: delete the pods there that have them`;
  return `node ${node} cannot be asked: it will be released when it has vanished, or by \`podwire nodes forget ${node}\``;
}

export function byKind(a: Problem, b: Problem): number {
  return a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
