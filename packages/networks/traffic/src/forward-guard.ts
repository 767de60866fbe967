/** Limits of forwarding: a node that forwards for pods does not forward for others. Text of chains. */
import type { Family } from '@podwire/addresses';
import type { RouterBefore } from '@podwire/network-contract';
import { forwardingLinks } from './link-names.js';
import { poolsSet } from './pools.js';

const set = (items: readonly string[]): string => `{ ${items.join(', ')} }`;

/*
 * Forwarding is a switch for the whole machine. Of what has neither a pod's link nor the tunnel nor a link of a model on a
 * side, this passes:
 * - what is for an address of the pools: a router may send it to another node than the one that has it;
 * - a bridge that has come since. A container engine or a hypervisor that finds forwarding switched on does not switch it on
 *   again, and says with its bridge alone that it needs it. Bridges that were there before join the node's own networks.
 * Rules of other programs on the same hook count as well: what passes here may be dropped there.
 */
/** @param links of models */
export function forwardGuard(router: RouterBefore | undefined, links: readonly string[]): string {
  const guarded = ([4, 6] as const).filter((family) => router?.forwarded[family] === false);
  if (router === undefined || guarded.length === 0) return '';
  const chains = guarded.map((family) => chainOf(family, router.bridges[family]));
  const own = forwardingLinks(links).map((link) => `"${link}"`);
  return `
chain forward {
	type filter hook forward priority filter; policy accept;
${own.map((link) => `\tiifname ${link} accept\n\toifname ${link} accept\n`).join('')}\
${guarded.map((family) => `\tmeta nfproto ipv${family} jump others${family}\n`).join('')}}
${chains.join('\n')}`;
}

function chainOf(family: Family, bridges: readonly string[]): string {
  const pools = `\t${family === 4 ? 'ip' : 'ip6'} daddr @${poolsSet(family)} accept\n`;
  const known = set(bridges.toSorted().map((bridge) => `"${bridge}"`));
  const since = (side: 'iif' | 'oif'): string =>
    `\tmeta ${side}kind "bridge"${bridges.length === 0 ? '' : ` ${side}name != ${known}`} accept\n`;
  return `chain others${family} {\n${pools}${since('iif')}${since('oif')}\tdrop\n}`;
}
