import type { Clock } from './options.js';

/** Nanoseconds since 1970, as CRI wants them. */
export const nowNanoseconds = (clock: Clock): bigint => BigInt(Math.round(clock.now() * 1e3)) * 1000n;
