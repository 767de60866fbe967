import { overlaps, parsePrefix, type Prefix } from './prefix.js';

/** Addresses that cannot be a pod's. The class E range 240.0.0.0/4 works on Linux and is in use for pods. */
const special: readonly { readonly prefix: Prefix; readonly kind: string }[] = [
  { prefix: parsePrefix('0.0.0.0/8'), kind: 'this host (RFC 1122)' },
  { prefix: parsePrefix('127.0.0.0/8'), kind: 'loopback' },
  { prefix: parsePrefix('169.254.0.0/16'), kind: 'link-local' },
  { prefix: parsePrefix('224.0.0.0/4'), kind: 'multicast' },
  { prefix: parsePrefix('255.255.255.255/32'), kind: 'limited broadcast' },
  { prefix: parsePrefix('::/8'), kind: 'unspecified, loopback and IPv4 embedded (RFC 4291)' },
  { prefix: parsePrefix('fe80::/10'), kind: 'link-local' },
  { prefix: parsePrefix('ff00::/8'), kind: 'multicast' },
];

/** The kinds of special addresses in the prefix, which no pod can have: `loopback`, `multicast`, …; empty if there are none. */
export function specialKinds(prefix: Prefix): string[] {
  return special.filter((range) => overlaps(range.prefix, prefix)).map((range) => range.kind);
}
