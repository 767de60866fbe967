/** Leases by when they end. */
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
  /** A heap by time. Prolonging leaves it alone: an entry that comes too early is put back with the later time. */
  readonly #heap: Due[] = [];
  #granted = 0;

  grant(ttl: number, now: number): HeldLease {
    const id = (++this.#granted).toString(16);
    const lease: HeldLease = { id, ttl, deadline: now + ttl, keys: new Set() };
    this.#held.set(id, lease);
    this.#push({ at: lease.deadline, lease });
    return lease;
  }

  get(id: LeaseId): HeldLease | undefined {
    return this.#held.get(id);
  }

  end(id: LeaseId): void {
    this.#held.delete(id);
  }

  /** When the next one may end. */
  get next(): number | undefined {
    return this.#heap[0]?.at;
  }

  /** One that is over; it is still held. */
  takeDue(now: number): HeldLease | undefined {
    for (let top = this.#heap[0]; top !== undefined && top.at <= now; top = this.#heap[0]) {
      this.#pop();
      if (this.#held.get(top.lease.id) === undefined) continue;
      if (top.lease.deadline <= now) return top.lease;
      this.#push({ at: top.lease.deadline, lease: top.lease });
    }
    return undefined;
  }

  #push(due: Due): void {
    const heap = this.#heap;
    let at = heap.push(due) - 1;
    for (let up = (at - 1) >> 1; at > 0 && timeAt(heap, up) > due.at; up = (at - 1) >> 1) {
      swap(heap, at, up);
      at = up;
    }
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      const least = timeAt(heap, left + 1) < timeAt(heap, left) ? left + 1 : left;
      if (timeAt(heap, least) >= last.at) return;
      swap(heap, at, least);
      at = least;
    }
  }
}

const timeAt = (heap: readonly Due[], index: number): number => heap[index]?.at ?? Infinity;

function swap(heap: Due[], one: number, other: number): void {
  const [first, second] = [heap[one], heap[other]];
  if (first === undefined || second === undefined) return;
  heap[one] = second;
  heap[other] = first;
}
