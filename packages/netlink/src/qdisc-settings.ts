/** Attributes of each kind of qdisc: the content of TCA_OPTIONS, both ways. */
import type { Attributes } from './attributes.js';
import { DecodeError } from './errors.js';
import type { PayloadWriter } from './payload.js';
import {
  bytesIn,
  bytesPerSecond,
  TC_RATESPEC,
  ticksAt,
  ticksOf,
  writeRate64,
  writeRateSpec,
} from './traffic-rate.js';

/** tc-tbf(8): lets `rate` through, and `burst` at once. */
export interface TokenBucketSettings {
  readonly kind: 'tbf';
  /** Bits per second; the kernel keeps whole bytes per second. */
  readonly rate: number;
  /** Bytes; what is read back is exact to 64 ns at the rate. Packets that are larger never pass. */
  readonly burst: number;
  /** Bytes that may wait; what comes on top is dropped. */
  readonly limit: number;
}

/** tc-htb(8) */
export interface HtbSettings {
  readonly kind: 'htb';
  /** Minor number of the class for packets that no filter claims; 0 lets them pass unshaped. */
  readonly defaultClass?: number;
}

/** Hooks for filters: on what arrives (`ingress`), or on both directions (`clsact`). */
export interface HookSettings {
  readonly kind: 'ingress' | 'clsact';
}

export type QdiscSettings = TokenBucketSettings | HtbSettings | HookSettings;

const TCA_TBF_PARMS = 1;
const TCA_TBF_RATE64 = 4;
const TCA_TBF_BURST = 6;
const TC_TBF_QOPT = 36;

const TCA_HTB_INIT = 2;
const TC_HTB_GLOB = 20;
const HTB_VERSION = 3;
const HTB_RATE_TO_QUANTUM = 10;

export function writeQdiscSettings(writer: PayloadWriter, settings: QdiscSettings): void {
  if (settings.kind === 'tbf') writeTokenBucket(writer, settings);
  if (settings.kind === 'htb') writeHtb(writer, settings);
}

/**
 * The settings of a kind this library knows. The options of the others (pfifo_fast, say) need not be attributes, so
 * they are only looked at when they are.
 * @throws DecodeError
 */
export function readQdiscSettings(
  kind: string,
  options: () => Attributes | undefined,
): QdiscSettings | undefined {
  if (kind === 'ingress' || kind === 'clsact') return { kind };
  if (kind !== 'tbf' && kind !== 'htb') return undefined;
  const attributes = options();
  if (attributes === undefined) return undefined;
  return kind === 'tbf' ? readTokenBucket(attributes) : readHtb(attributes);
}

/** struct tc_tbf_qopt: rate and peak rate (tc_ratespec), limit (u32 at 24), buffer (ticks at 28), mtu (32). */
function writeTokenBucket(writer: PayloadWriter, { rate, burst, limit }: TokenBucketSettings): void {
  const parameters = Buffer.alloc(TC_TBF_QOPT);
  writeRateSpec(parameters.subarray(0, TC_RATESPEC), rate);
  parameters.writeUInt32LE(limit, 24);
  parameters.writeUInt32LE(ticksOf(burst, rate), 28);
  writer.bytes(TCA_TBF_PARMS, parameters);
  writeRate64(writer, TCA_TBF_RATE64, rate);
  // Exact, where the ticks above are rounded down; kernels before 3.14 do not know it.
  writer.u32(TCA_TBF_BURST, burst);
}

function readTokenBucket(options: Attributes): TokenBucketSettings | undefined {
  const parameters = options.bytes(TCA_TBF_PARMS);
  if (parameters === undefined) return undefined;
  if (parameters.length < TC_TBF_QOPT) throw new DecodeError(`tc_tbf_qopt of ${parameters.length} bytes`);
  const perSecond = options.u64(TCA_TBF_RATE64) ?? BigInt(parameters.readUInt32LE(8));
  return {
    kind: 'tbf',
    rate: Number(perSecond * 8n),
    burst: bytesIn(parameters.readUInt32LE(28), perSecond),
    limit: parameters.readUInt32LE(24),
  };
}

/**
 * Reports if a token bucket that was read is the one that was asked for: the kernel rounds the rate to bytes per second
 * and the burst to ticks, so the numbers themselves may differ.
 */
export function sameTokenBucket(wanted: TokenBucketSettings, read: TokenBucketSettings): boolean {
  const perSecond = bytesPerSecond(wanted.rate);
  if (Math.floor(read.rate / 8) !== Number(perSecond) || read.limit !== wanted.limit) return false;
  const ticks = Number(ticksAt(wanted.burst, perSecond));
  const difference = Math.abs(ticks - Number(ticksAt(read.burst, perSecond)));
  return difference <= TICK_TOLERANCE + ticks * RATIO_TOLERANCE;
}

const TICK_TOLERANCE = 2;
/** The kernel divides by multiplying with a factor of 31 bits (psched_ratecfg_precompute). */
const RATIO_TOLERANCE = 2 ** -28;

/** struct tc_htb_glob: version, rate-to-quantum, default class, debug, direct packets (u32 each). */
function writeHtb(writer: PayloadWriter, { defaultClass = 0 }: HtbSettings): void {
  const parameters = Buffer.alloc(TC_HTB_GLOB);
  parameters.writeUInt32LE(HTB_VERSION, 0);
  parameters.writeUInt32LE(HTB_RATE_TO_QUANTUM, 4);
  parameters.writeUInt32LE(defaultClass, 8);
  writer.bytes(TCA_HTB_INIT, parameters);
}

function readHtb(options: Attributes): HtbSettings | undefined {
  const parameters = options.bytes(TCA_HTB_INIT);
  if (parameters === undefined) return undefined;
  if (parameters.length < TC_HTB_GLOB) throw new DecodeError(`tc_htb_glob of ${parameters.length} bytes`);
  return { kind: 'htb', defaultClass: parameters.readUInt32LE(8) };
}
