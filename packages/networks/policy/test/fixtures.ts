/** Compiled policy made by hand, and packets through what the renderer makes of it. */
import type { Resource } from '@podwire/engine';
import { createInterpreter, type Outcome, type RulePacket } from '@podwire/nftables/interpret';
import type {
  CompiledDelta,
  CompiledDirection,
  CompiledEndpoint,
  CompiledPolicy,
  CompiledRule,
} from '@podwire/policy';
import { createPolicyRenderer, type PolicyLink, type PolicyRenderer } from '../src/index.js';

export const nothing: CompiledDelta = {
  ...{ sets: [], setsRemoved: [], policies: [], policiesRemoved: [] },
  ...{ endpoints: [], endpointsRemoved: [] },
};

export const rule = (action: CompiledRule['action'], more: Partial<CompiledRule> = {}): CompiledRule => ({
  ...{ action, source: [], destination: [], path: 'spec.rules[0]' },
  ...more,
});

export const policy = (
  id: string,
  rules: Pick<CompiledPolicy, 'ingress' | 'egress'>,
  more: Partial<CompiledPolicy> = {},
): CompiledPolicy => ({
  ...{ id, tier: 'default', rank: { order: 1, name: id }, hostMode: 'normal', ...rules },
  reference: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', namespace: 'a', name: id },
  ...more,
});

export const open: CompiledDirection = { tiers: [], profiles: [], end: 'allow' };

export const tiers = (...list: CompiledDirection['tiers']): CompiledDirection => ({ ...open, tiers: list });

export const pod = (
  key: string,
  directions: Partial<Pick<CompiledEndpoint, 'ingress' | 'egress'>> = {},
): CompiledEndpoint => ({ key, kind: 'pod', ingress: open, egress: open, ...directions });

export const link = (name: string, endpoint: string): { link: string; value: PolicyLink } => ({
  link: name,
  value: { link: name, endpoint, addresses: [] },
});

export const makeRenderer = (): PolicyRenderer =>
  createPolicyRenderer({ podLinkPrefixes: ['cali'], logGroup: 100 });

/** From pod `a` behind cali1 to pod `b` behind cali2. */
export const tcp: RulePacket = {
  ...{ source: '10.0.0.1', destination: '10.0.0.2', protocol: 6, sourcePort: 40_000, destinationPort: 80 },
  ...{ inLink: 'cali1', outLink: 'cali2', state: 'new' },
};

export function run(
  resources: readonly Resource[],
  packet: RulePacket,
  hook: 'forward' | 'input' | 'prerouting' = 'forward',
): Outcome {
  const of = <K extends Resource['kind']>(kind: K): Extract<Resource, { kind: K }>[] =>
    resources.filter((resource): resource is Extract<Resource, { kind: K }> => resource.kind === kind);
  const elements = of('nft-element');
  return createInterpreter({
    chains: of('nft-chain').map(({ chain }) => chain),
    sets: of('nft-set').map(({ set }) => set),
    elements: elements.map(({ set, key, chain }) => ({
      ...{ set, key },
      ...(chain === undefined ? {} : { verdict: { verdict: 'goto' as const, chain } }),
    })),
  }).run(hook, packet);
}
