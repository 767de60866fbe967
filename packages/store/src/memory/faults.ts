/** Faults to inject into a client of the memory store. */

export type Operation =
  'get' | 'put' | 'delete' | 'transact' | 'list' | 'watch' | 'grantLease' | 'keepAlive' | 'revoke';

/** `watch`: a batch is on its way to a watch of the prefix `key`. Leases: `key` is the lease, empty for a new one. */
export interface MemoryCall {
  readonly operation: Operation;
  /** The first that is written, or else expected. */
  readonly key: string;
}

/**
 * - `unavailable`: refused, nothing is done. A watch is cut off, and goes on after its pause.
 * - `request-lost`: nothing is done, and the caller does not know (`details.uncertain`).
 * - `answer-lost`: it is done, and the caller does not know.
 * - `conflict`: just before the call, the items of its keys are written again with the same text.
 */
export type Fault = 'unavailable' | 'request-lost' | 'answer-lost' | 'conflict';

/** Read at each call: a test may change it in between. */
export interface MemoryFaults {
  /** Milliseconds there and back; news of a watch take the same. */
  latency?: (call: MemoryCall) => number;
  decide?: (call: MemoryCall) => Fault | undefined;
  /** Milliseconds until a call whose request or answer was lost fails. 0 by default. */
  timeout?: number;
  /** Milliseconds until a watch that was cut off is there again. 0 by default. */
  pause?: number;
}

const order: readonly Fault[] = ['unavailable', 'request-lost', 'answer-lost', 'conflict'];

/**
 * Faults by chance.
 * @param shares of each fault, 0 to 1; what is left goes well
 * @param random from 0 up to 1, as Math.random
 */
export function randomFaults(
  shares: Partial<Readonly<Record<Fault, number>>>,
  random: () => number,
): (call: MemoryCall) => Fault | undefined {
  return () => {
    let left = random();
    return order.find((fault) => (left -= shares[fault] ?? 0) < 0);
  };
}
