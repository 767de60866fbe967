import type { Clock } from '@podwire/platform';

/** Tests pass their own. */
export type FakeClock = Pick<Clock, 'now' | 'sleep'>;

export const toNanoseconds = (milliseconds: number): bigint =>
  BigInt(Math.round(milliseconds * 1000)) * 1000n;
