/** Addresses and prefixes of objects that were read through their schema, so they parse. */
import {
  compareAddresses,
  formatAddress,
  hostPrefix,
  parseAddress,
  parsePrefix,
  type Prefix,
} from '@podwire/addresses';

/** Reading 10,000 blocks against each pool would parse each pool's text 10,000 times. */
const known = new Map<string, Prefix>();
const keptTexts = 100_000;

/** `10.0.0.0/26`, or a single address as a prefix of full length. @throws RangeError */
export function prefixFrom(text: string): Prefix {
  const found = known.get(text);
  if (found !== undefined) return found;
  const prefix = text.includes('/') ? parsePrefix(text, { loose: true }) : hostPrefix(parseAddress(text));
  if (known.size >= keptTexts) known.clear();
  known.set(text, prefix);
  return prefix;
}

export function canonicalAddress(text: string): string {
  return formatAddress(parseAddress(text));
}

/** In order of numbers, IPv4 first. */
export function compareCidrs(a: string, b: string): number {
  const [one, other] = [prefixFrom(a), prefixFrom(b)];
  return (
    one.family - other.family || compareAddresses(one.address, other.address) || one.length - other.length
  );
}

/** `a, b and 3 more` */
export function listSome(names: readonly string[], most = 5): string {
  if (names.length <= most) return names.join(', ');
  return `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
}

/** An address of the node itself (its tunnel address): no pod, so it cannot be deleted. */
export function isNodesOwn({ owner }: { readonly owner: string }): boolean {
  return owner.startsWith('node:');
}
