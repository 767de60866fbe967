/**
 * struct tc_ratespec and the scheduler's clock. The kernel counts rates in bytes per second and bursts as the time
 * that they take at that rate, in ticks of 64 ns (PSCHED_SHIFT 6; /proc/net/psched says the same on every kernel
 * since 2.6.31).
 */
import type { PayloadWriter } from './payload.js';

export const TC_RATESPEC = 12;
const TICK_NS = 64n;
const SECOND_NS = 1_000_000_000n;
const TC_LINKLAYER_ETHERNET = 1;
const UINT32_MAX = 0xffffffff;

/** Bytes per second of `rate` bits per second, rounded down. @throws RangeError below one byte per second. */
export function bytesPerSecond(rate: number): bigint {
  if (!Number.isFinite(rate) || rate < 8) throw new RangeError(`a rate of ${rate} bit/s`);
  return BigInt(Math.floor(rate)) / 8n;
}

/** Ticks that `bytes` take at so many bytes per second, rounded down. */
export const ticksAt = (bytes: number, perSecond: bigint): bigint =>
  (BigInt(Math.floor(bytes)) * SECOND_NS) / (perSecond * TICK_NS);

/** Ticks that `bytes` take at `rate` bits per second. @throws RangeError when they are too many for the kernel. */
export function ticksOf(bytes: number, rate: number): number {
  const ticks = ticksAt(bytes, bytesPerSecond(rate));
  if (ticks > UINT32_MAX) throw new RangeError(`${bytes} bytes take longer than 274 s at ${rate} bit/s`);
  return Number(ticks);
}

/** Bytes that go through in `ticks` at so many bytes per second, rounded. */
export function bytesIn(ticks: number, perSecond: bigint): number {
  return Number((BigInt(ticks) * TICK_NS * perSecond + SECOND_NS / 2n) / SECOND_NS);
}

/**
 * Fills a struct tc_ratespec. With a link layer given, the kernel computes the time of a packet from the rate and
 * needs no table of times from us.
 */
export function writeRateSpec(into: Buffer, rate: number): void {
  const perSecond = bytesPerSecond(rate);
  into[1] = TC_LINKLAYER_ETHERNET;
  into.writeUInt32LE(perSecond > UINT32_MAX ? UINT32_MAX : Number(perSecond), 8);
}

/** The rate as 64 bits, for those that the struct has no room for. */
export function writeRate64(writer: PayloadWriter, type: number, rate: number): void {
  const perSecond = bytesPerSecond(rate);
  if (perSecond > UINT32_MAX) writer.u64(type, perSecond);
}
