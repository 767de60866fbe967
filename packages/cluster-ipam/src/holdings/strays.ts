/** Addresses in use here that are not this node's (any more). */
import { parseAddress } from '@podwire/addresses';
import type { Core } from '../core.js';

/** By block, in words. Looks at every address in use. */
export function describeStrays(core: Core): string[] {
  const strays = new Map<string, string[]>();
  for (const { address, pod, owner } of core.book.entries()) {
    const parsed = parseAddress(address);
    if (core.book.around(parsed) !== undefined) continue;
    const cidr = core.index.around(parsed);
    const node = cidr === undefined ? undefined : core.cache.blocks.get(cidr)?.value.node;
    if (node === undefined || node === core.node) continue;
    const where = `block ${cidr}, which is node ${node}’s`;
    const there = strays.get(where);
    if (there === undefined) strays.set(where, [`${address} (${pod ?? owner})`]);
    else there.push(`${address} (${pod ?? owner})`);
  }
  return [...strays].map(([where, who]) => `NODE_STATE_STALE: in use here, in ${where}: ${who.join(', ')}`);
}
