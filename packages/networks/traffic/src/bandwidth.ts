import type { Ifb, IngressRedirect, TokenBucket } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import { PodwireError } from '@podwire/errors';
import type { Bandwidth, Endpoint } from '@podwire/network-contract';
import { ifbName } from './link-names.js';

/** The bounds that Kubernetes sets for its bandwidth annotations, in bits per second. */
const slowest = 1_000;
const fastest = 1_000_000_000_000_000;

/** Runtimes that request no burst pass this (kubelet) or more (containerd 4294967295, Calico 4 Gibit). */
const unspecifiedBurst = 2_147_483_647;

/** Seconds. See docs/decisions/0006-default-burst.md for all three. */
const burstTime = 0.01;
const queueTime = 0.025;
/** TCP sends so many before the first acknowledgement (RFC 6928), so that a slow queue does not lose a short transfer's start. */
const queuePackets = 10;

/** tc-tbf(8) counts both in 32 bits, and in as many the ticks of 64 ns that a burst takes at its rate. */
const largestBurst = 2 ** 31;
const largestLimit = 2 ** 32 - 1;
/** Seconds. */
const longestBurst = 274;

/** Ethernet header with one tag, which the queue counts and the MTU does not. */
const frameHeader = 18;

/**
 * The `bandwidth` capability: a token bucket on the host's end for what the pod receives, and an ifb with another for
 * what it sends. A rate of 0 or none leaves the direction alone.
 * @param hostLink the host side's name
 * @param mtu of the link, in bytes
 * @throws PodwireError REQUEST_INVALID naming the field
 */
export function planBandwidth(endpoint: Endpoint, hostLink: string, mtu: number): Resource[] {
  const ingress = shapeOf(endpoint.bandwidth, 'ingress', mtu);
  const egress = shapeOf(endpoint.bandwidth, 'egress', mtu);
  return [
    ...(ingress === undefined ? [] : [bucketOn(hostLink, ingress)]),
    ...(egress === undefined ? [] : shapeSending(ifbName(endpoint.id), hostLink, egress, mtu)),
  ];
}

type Shape = Pick<TokenBucket, 'rate' | 'burst' | 'limit'>;

const bucketOn = (link: string, shape: Shape): TokenBucket => ({
  kind: 'token-bucket',
  in: 'host',
  link,
  ...shape,
});

function shapeSending(
  ifb: string,
  hostLink: string,
  shape: Shape,
  mtu: number,
): [Ifb, TokenBucket, IngressRedirect] {
  return [
    { kind: 'ifb', name: ifb, mtu },
    bucketOn(ifb, shape),
    { kind: 'ingress-redirect', in: 'host', link: hostLink, target: ifb },
  ];
}

function shapeOf(
  bandwidth: Bandwidth | undefined,
  direction: 'ingress' | 'egress',
  mtu: number,
): Shape | undefined {
  const rate = bandwidth?.[`${direction}Rate`] ?? 0;
  const burst = bandwidth?.[`${direction}Burst`] ?? 0;
  checkNumbers(direction, rate, burst);
  if (rate === 0) return undefined;
  const frame = mtu + frameHeader;
  const bytesPerSecond = rate / 8;
  const bucket = burstBytes(bytesPerSecond, burst, frame);
  const waiting = Math.max(bytesPerSecond * queueTime, queuePackets * frame);
  return { rate, burst: bucket, limit: Math.min(bucket + Math.ceil(waiting), largestLimit) };
}

/** A bucket that cannot hold a frame would never let one pass, hence the lower bounds. */
function burstBytes(bytesPerSecond: number, requested: number, frame: number): number {
  const longest = Math.floor(bytesPerSecond) * longestBurst;
  if (requested > 0 && requested < unspecifiedBurst)
    return Math.max(Math.min(Math.floor(requested / 8), longest), frame);
  return Math.min(Math.max(Math.ceil(bytesPerSecond * burstTime), 2 * frame), largestBurst);
}

function checkNumbers(direction: 'ingress' | 'egress', rate: number, burst: number): void {
  const refuse = (field: string, value: number, rule: string): never => {
    throw new PodwireError('REQUEST_INVALID', `bandwidth.${direction}${field} is ${value}: ${rule}`);
  };
  if (rate !== 0 && !(Number.isSafeInteger(rate) && rate >= slowest && rate <= fastest)) {
    refuse('Rate', rate, 'not 0 nor between 1000 and 10^15 bits per second');
  }
  if (!Number.isSafeInteger(burst) || burst < 0) refuse('Burst', burst, 'not a whole number of bits');
  if (rate === 0 && burst > 0 && burst < unspecifiedBurst)
    refuse('Burst', burst, `needs an ${direction}Rate`);
}
