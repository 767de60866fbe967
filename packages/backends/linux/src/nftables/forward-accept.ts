import type { Kind } from '@podwire/engine';
import { type ForwardPolicy, iptablesForward, type Nftables } from '@podwire/nftables';
import * as is from '../checks.js';
import type { ForwardAccept } from './resources.js';

/** Hints name it for what happens in the chain that iptables has for forwarding, and in the one behind it. */
export const forwardKey = (family: string): string => `forwarding of ${family} filter`;

export const forwardAccept: Kind<ForwardAccept, ForwardPolicy | undefined> = {
  kind: 'forward-accept',
  check: is.resource<ForwardAccept>({
    family: is.oneOf('ip', 'ip6'),
    chain: is.text,
    links: is.listOf(is.text),
  }),
  backend: 'nftables',
  batch: 'ruleset',
  place: () => 'host',
  key: ({ family, chain }) => `forward-accept ${family} ${chain}`,
  describe: ({ family, links }) => `accept of ${links.join(' ')} in ${family} filter FORWARD`,
  touches: ({ family }) => [forwardKey(family)],
  inPlace: false,
  compare: (resource, policy) =>
    isNeeded(policy)
      ? { missing: `${nameChain(resource)} drops what it does not know, pods too` }
      : undefined,
};

const isNeeded = (policy: ForwardPolicy | undefined): boolean =>
  policy !== undefined && policy.drops && policy.jumps.length === 0;

const nameChain = ({ family }: ForwardAccept): string =>
  `${family} ${iptablesForward.table} ${iptablesForward.chain}`;

/** In a form that iptables-nft can show. The jump stands last: it takes the place of the policy, and of no other rule. */
export async function acceptForwarded(
  nftables: Nftables,
  resource: ForwardAccept,
  signal: AbortSignal,
): Promise<void> {
  const { family, chain, links } = resource;
  if (!isNeeded(nftables.forwardPolicy(family, chain))) return;
  const own = `${family} ${iptablesForward.table} ${chain}`;
  const rules = links.flatMap((link) => [`iifname "${link}"`, `oifname "${link}"`]);
  const script = [
    `add chain ${own}`,
    `flush chain ${own}`,
    ...rules.map((rule) => `add rule ${own} ${rule} counter accept`),
    `add rule ${nameChain(resource)} counter jump ${chain}`,
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
    ...jumps.map((handle) => `delete rule ${nameChain(resource)} handle ${handle}`),
    `flush chain ${own}`,
    `delete chain ${own}`,
  ];
  await nftables.loadRuleset(`${script.join('\n')}\n`, { signal });
}
