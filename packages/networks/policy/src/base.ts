/** The table before any policy is known: every pod is closed, and all other traffic goes on. */
import type { Resource } from '@podwire/engine';
import { policyTable, type RendererOptions } from './contract.js';
import { dropRules } from './drops.js';
import {
  type BaseChain,
  chain,
  type Direction,
  element,
  podsMap,
  portedSet,
  type Rule,
  set,
} from './names.js';

/*
 * Two chains on one hook, since an accept ends one chain only: a packet from pod to pod on one node has to be let out and let in.
 * The first stands in front of the filters of the machine (0), the second behind: both see packets after the translation of their
 * destination (-100), and before that of their source, so the client's address is the real one.
 * Packets of the node itself go through the output hook, which has no chain of ours: probes always arrive.
 */
const priorities: Readonly<Record<Direction, number>> = { egress: -5, ingress: 5 };

export function planBase({ podLinkPrefixes, logGroup }: RendererOptions): Resource[] {
  const plan = (name: string, direction: Direction, hook: BaseChain['hook']): Resource =>
    chain(name, baseRules(direction, podLinkPrefixes, logGroup), {
      type: 'filter',
      hook,
      priority: priorities[direction],
      policy: 'drop',
    });
  return [
    { kind: 'nft-own-table', ...policyTable },
    set({ name: portedSet, key: ['inet_proto'] }),
    ...(['tcp', 'udp', 'sctp'] as const).map((value) => element(portedSet, [{ type: 'inet_proto', value }])),
    ...(['egress', 'ingress'] as const).map((direction) =>
      set({ name: podsMap(direction), key: ['ifname'], data: 'verdict' }),
    ),
    plan('egress', 'egress', 'forward'),
    plan('ingress', 'ingress', 'forward'),
    plan('egress-to-node', 'egress', 'input'),
  ];
}

/** Neighbour discovery, and what routers say of themselves (RFC 4861): whether a pod may say it is decided in front of this. */
export const neighbourDiscovery: Rule = {
  statements: [{ is: 'range', field: 'icmpv6 type', first: 133, last: 137 }, { is: 'accept' }],
};

function baseRules(direction: Direction, prefixes: readonly string[], logGroup: number): Rule[] {
  const field = direction === 'egress' ? 'iifname' : 'oifname';
  const others = prefixes.map((prefix) => ({ is: 'match', field, op: '!=', value: `${prefix}*` }) as const);
  return [
    { statements: [...others, { is: 'accept' }] },
    { statements: [{ is: 'ct-state', states: ['established', 'related'] }, { is: 'accept' }] },
    { statements: [{ is: 'ct-state', states: ['invalid'] }, { is: 'counter' }, { is: 'drop' }] },
    neighbourDiscovery,
    { statements: [{ is: 'vmap', fields: [field], map: podsMap(direction) }] },
    ...dropRules({ direction, reason: 'unknown-link' }, logGroup),
  ];
}
