/** Fencing: the node may allocate only if the store has confirmed it and its blocks not too long ago. */
import { PodwireError } from '@podwire/errors';
import type { Clock } from '@podwire/platform';
import type { Condition } from '@podwire/store';
import type { AllocationState } from './affinities/allocation-state.js';
import type { ClusterStore } from './cluster-store.js';

/** A moment by both clocks. A suspended machine stops the one; NTP and administrators set the other. */
export interface Moment {
  readonly wall: number;
  readonly elapsed: number;
}

export const momentOf = (clock: Clock): Moment => ({ wall: clock.now(), elapsed: clock.elapsed() });

/** Milliseconds that a wall clock may be set back while the agent is down without invalidating its saved state. */
const stepBack = 60_000;

export class Fence {
  readonly #clock: Clock;
  readonly #fenceAfter: number;
  #confirmed: Moment | undefined;
  #takenBy: string | undefined;
  #limit: number;

  constructor(clock: Clock, fenceAfter: number) {
    this.#clock = clock;
    this.#fenceAfter = fenceAfter;
    this.#limit = fenceAfter;
  }

  /** Milliseconds without confirmation after which the node is fenced. */
  get limit(): number {
    return this.#limit;
  }

  /** Milliseconds since the epoch; 0: never. */
  get confirmedAt(): number {
    return this.#confirmed?.wall ?? 0;
  }

  /** @param asked when the question was sent: the answer was true at some time after that */
  confirm(asked: Moment): void {
    this.#takenBy = undefined;
    this.#limit = this.#fenceAfter;
    if (this.#confirmed !== undefined && asked.elapsed < this.#confirmed.elapsed) return;
    this.#confirmed = asked;
  }

  /**
   * Continues with the confirmation of an earlier life, by the wall clock alone.
   * @param promised the limit of that life: until the store knows a longer one, the controller counts on this
   */
  resume(confirmedAt: number, promised = this.#fenceAfter): void {
    this.#limit = Math.min(this.#fenceAfter, promised);
    const { wall, elapsed } = momentOf(this.#clock);
    if (wall < confirmedAt - stepBack) return;
    this.#confirmed = { wall: confirmedAt, elapsed: elapsed - Math.max(0, wall - confirmedAt) };
  }

  /** Another agent has the node's name. */
  noteNameTaken(instance: string): void {
    this.#takenBy = instance;
  }

  get isFenced(): boolean {
    return this.#takenBy !== undefined || this.age > this.#limit;
  }

  /** Milliseconds since the confirmation, by the clock that says more. */
  get age(): number {
    if (this.#confirmed === undefined) return Infinity;
    const { wall, elapsed } = momentOf(this.#clock);
    return Math.max(wall - this.#confirmed.wall, elapsed - this.#confirmed.elapsed);
  }

  /** @throws PodwireError NODE_FENCED */
  requireUnfenced(): void {
    if (this.#takenBy !== undefined) {
      const message = `the node's name belongs to another agent (instance ${this.#takenBy})`;
      throw new PodwireError('NODE_FENCED', message, {
        details: { instance: this.#takenBy },
        action: 'Stop the other agent, or give this node a `nodeName` of its own.',
      });
    }
    if (this.age <= this.#limit) return;
    const since = this.#confirmed === undefined ? 'yet' : `for ${Math.round(this.age / 1000)} s`;
    throw new PodwireError('NODE_FENCED', `the store has not confirmed this node ${since}`, {
      details: { confirmedAt: this.confirmedAt, trustFor: this.#limit },
    });
  }
}

/** Its own blocks change when addresses are borrowed of them; more often than this in a row is a failure. */
const attempts = 5;

/**
 * Confirms the node in one transaction that writes nothing: its lease exists, and each of its blocks has the revision that the
 * cache has. The controller takes nothing from a node with a lease, so the eviction timeout starts after this question at the
 * earliest.
 * @returns whether the store confirmed. @throws as the store does
 */
export async function confirmAffinities(
  { store, state, fence, clock }: ConfirmParts,
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (!store.isRegistered && !(await store.readLease(signal))) return false;
    const asked = momentOf(clock);
    if (await holdsAll(store, state, signal)) {
      fence.confirm(asked);
      return true;
    }
  }
  return false;
}

export interface ConfirmParts {
  readonly store: ClusterStore;
  readonly state: AllocationState;
  readonly fence: Fence;
  readonly clock: Clock;
}

async function holdsAll(store: ClusterStore, state: AllocationState, signal: AbortSignal): Promise<boolean> {
  const blocks = blockConditions(store, state);
  const room = store.operations - 1;
  for (let at = 0; at === 0 || at < blocks.length; at += room) {
    // The lease may have been lost with the batch before this one.
    if (!store.isRegistered) return false;
    const conditions = [store.leaseCondition(), ...blocks.slice(at, at + room)];
    if ((await store.write({ conditions, writes: [] }, signal)) === undefined) return false;
  }
  return true;
}

function blockConditions({ cache }: ClusterStore, state: AllocationState): Condition[] {
  const cidrs = new Set([...state.all()].map(({ cidr, borrowedFrom = cidr }) => borrowedFrom));
  return [...cidrs].flatMap((cidr) => {
    const stored = cache.blocks.get(cidr);
    return stored === undefined ? [] : [{ key: stored.key, expect: stored.revision }];
  });
}
