/** Leases by the time at which they expire. */
import { Heap } from '@podwire/platform';
import type { LeaseId } from '../contract.js';

export interface HeldLease {
  readonly id: LeaseId;
  readonly ttl: number;
  /** By the monotonic clock, milliseconds. */
  deadline: number;
  readonly keys: Set<string>;
}

interface Due {
  readonly at: number;
  readonly lease: HeldLease;
}

export class Leases {
  readonly #held = new Map<LeaseId, HeldLease>();
  /** By time. A keep-alive leaves it alone: an entry that comes up too early is pushed again with the later time. */
  readonly #heap = new Heap<Due>((a, b) => a.at < b.at);
  #granted = 0;

  grant(ttl: number, now: number): HeldLease {
    const id = (++this.#granted).toString(16);
    const lease: HeldLease = { id, ttl, deadline: now + ttl, keys: new Set() };
    this.#held.set(id, lease);
    this.#heap.push({ at: lease.deadline, lease });
    return lease;
  }

  get(id: LeaseId): HeldLease | undefined {
    return this.#held.get(id);
  }

  end(id: LeaseId): void {
    this.#held.delete(id);
  }

  /** When the next lease may expire. */
  get next(): number | undefined {
    return this.#heap.first?.at;
  }

  /** A lease that has expired; it is still listed. */
  takeDue(now: number): HeldLease | undefined {
    for (let top = this.#heap.first; top !== undefined && top.at <= now; top = this.#heap.first) {
      this.#heap.pop();
      if (this.#held.get(top.lease.id) === undefined) continue;
      if (top.lease.deadline <= now) return top.lease;
      this.#heap.push({ at: top.lease.deadline, lease: top.lease });
    }
    return undefined;
  }
}
