import { iptablesForward, type Nftables } from '@podwire/nftables';
import type { ForwardAccept } from '../resource.js';
import type { Provider } from './provider.js';

export const forwardAccept: Pick<Provider<ForwardAccept>, 'compare'> = {
  compare: (resource, view) => {
    const policy = view.filter.forwardPolicy(resource);
    if (policy === undefined || !policy.drops || policy.jumps.length > 0) return undefined;
    return { missing: `${placeOf(resource)} drops what it does not know, pods too` };
  },
};

const placeOf = ({ family }: ForwardAccept): string =>
  `${family} ${iptablesForward.table} ${iptablesForward.chain}`;

/** In a form that iptables-nft can show. The jump stands last: it takes the place of the policy, and of no other rule. */
export async function acceptForwarded(
  nftables: Nftables,
  resource: ForwardAccept,
  signal: AbortSignal,
): Promise<void> {
  const { family, chain, links } = resource;
  const policy = nftables.forwardPolicy(family, chain);
  if (policy === undefined || !policy.drops || policy.jumps.length > 0) return;
  const own = `${family} ${iptablesForward.table} ${chain}`;
  const rules = links.flatMap((link) => [`iifname "${link}"`, `oifname "${link}"`]);
  const script = [
    `add chain ${own}`,
    `flush chain ${own}`,
    ...rules.map((rule) => `add rule ${own} ${rule} counter accept`),
    `add rule ${placeOf(resource)} counter jump ${chain}`,
  ];
  await nftables.loadRuleset(`${script.join('\n')}\n`, { signal });
}

export async function stopAccepting(
  nftables: Nftables,
  resource: ForwardAccept,
  signal: AbortSignal,
): Promise<void> {
  const { family, chain } = resource;
  const jumps = nftables.forwardPolicy(family, chain)?.jumps ?? [];
  if (jumps.length === 0) return;
  const own = `${family} ${iptablesForward.table} ${chain}`;
  const script = [
    ...jumps.map((handle) => `delete rule ${placeOf(resource)} handle ${handle}`),
    `flush chain ${own}`,
    `delete chain ${own}`,
  ];
  await nftables.loadRuleset(`${script.join('\n')}\n`, { signal });
}
