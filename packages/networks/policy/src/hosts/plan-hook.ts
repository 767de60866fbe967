/** A base chain for host endpoints: what passes whatever policy says, and then to the chain of the link. */
import type { NftChain } from '@podwire/backend-linux/resources';
import type { HostMode } from '@podwire/policy';
import { neighbourDiscovery } from '../base.js';
import { chain, type Direction, type Rule, type Statement } from '../names.js';
import { failsafeSet } from './failsafe.js';
import { acceptedMark, hostChain, type HostHook, hostsMap } from './hooks.js';

export interface HookOptions {
  readonly podLinkPrefixes: readonly string[];
  /** Destination ports of tunnels between nodes, which the table of traffic guards and does not track. */
  readonly tunnelPorts: readonly number[];
  /** Modes that some host endpoint of the node has policies of. */
  readonly used: ReadonlySet<HostMode>;
  /** Of the host endpoint for all links without one of their own. */
  readonly others: string | undefined;
}

const accept: Statement = { is: 'accept' };

export function planHook(hook: HostHook, options: HookOptions): NftChain {
  const rules = [
    ...ownLinks(hook, options),
    ...(hook.mode === 'untracked' ? [] : [established]),
    ...multicastListeners,
    neighbourDiscovery,
    ...tunnels(options),
    ...acceptedBefore(hook, options),
    ...failsafe(hook),
    { statements: [{ is: 'vmap', fields: [linkField(hook)], map: hostsMap(hook) }] } as const,
    ...(options.others === undefined
      ? []
      : [{ statements: [{ is: 'goto', chain: options.others }] } as const]),
  ];
  const { priority } = hook;
  return chain(hostChain(hook), rules, { type: 'filter', hook: hook.hook, priority, policy: 'accept' });
}

const linkField = ({ direction }: HostHook): 'iifname' | 'oifname' =>
  direction === 'ingress' ? 'iifname' : 'oifname';

/** A node always reaches itself and its own pods; what these send has their own policy. */
const ownLinks = (hook: HostHook, { podLinkPrefixes }: HookOptions): Rule[] =>
  ['lo', ...podLinkPrefixes.map((prefix) => `${prefix}*`)].map((value) => ({
    statements: [{ is: 'match', field: linkField(hook), value }, accept],
  }));

const established: Rule = {
  statements: [{ is: 'ct-state', states: ['established', 'related'] }, accept],
};

/** MLD (RFC 2710, RFC 3810): a switch that listens to it would not forward neighbour discovery to a node that is silent. */
const multicastListeners: readonly Rule[] = [
  { statements: [{ is: 'range', field: 'icmpv6 type', first: 130, last: 132 }, accept] },
  { statements: [{ is: 'match', field: 'icmpv6 type', value: 143 }, accept] },
];

const untracked: Statement = { is: 'ct-state', states: ['untracked'] };

/** Packets of the cluster's own tunnels: what is inside is looked at behind them. */
const tunnels = ({ tunnelPorts }: HookOptions): Rule[] =>
  tunnelPorts.map((value) => ({
    statements: [
      untracked,
      { is: 'match', field: 'l4proto', value: 'udp' },
      { is: 'match', field: 'th dport', value },
      accept,
    ],
  }));

/**
 * A packet that was allowed in front of tracking or translation is not asked about again where it comes in, nor,
 * untracked, where the node sends it. On its way out through another host endpoint it is. That a packet is not tracked
 * says nothing: other programs do that, too.
 */
function acceptedBefore({ mode, direction }: HostHook, { used }: HookOptions): Rule[] {
  if (mode === 'untracked' || (mode === 'forward' && direction === 'egress')) return [];
  if (mode === 'pre-dnat') return used.has('untracked') ? [{ statements: [isMarked, accept] }] : [];
  const mayBeMarked = used.has('untracked') || (used.has('pre-dnat') && direction === 'ingress');
  return mayBeMarked ? [takeMark] : [];
}

const isMarked: Statement = { is: 'match', field: 'mark', value: acceptedMark, mask: acceptedMark };

const takeMark: Rule = {
  statements: [isMarked, { is: 'set-mark', target: 'mark', value: 0, mask: acceptedMark }, accept],
};

/** Without tracking, answers are allowed as well: nothing tells them from other packets. */
function failsafe({ mode, direction }: HostHook): Rule[] {
  if (mode === 'forward') return [];
  const to = allowPorts('th dport', direction);
  const other = direction === 'ingress' ? 'egress' : 'ingress';
  return mode === 'untracked' ? [to, allowPorts('th sport', other)] : [to];
}

const allowPorts = (field: 'th dport' | 'th sport', direction: Direction): Rule => ({
  statements: [{ is: 'lookup', fields: ['l4proto', field], set: failsafeSet(direction) }, accept],
});
