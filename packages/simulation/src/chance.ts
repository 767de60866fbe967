/** Chance that is the same in every run. */
export interface Chance {
  /** From 0 up to 1. */
  next(): number;
  bytes(count: number): Uint8Array;
}

/** Mulberry32: 32 bits of state, even enough for arrivals and latencies. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { next, bytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(next() * 256)) };
}
