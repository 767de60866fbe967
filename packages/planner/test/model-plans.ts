/** Plans with shared and contested keys, priorities, derived facts and collections. */
import type { Resource } from '@podwire/engine';
import { collect, type Planned, Planner, type PlannerOptions, type Read, type Scope } from '@podwire/planner';
import { keyOf } from './model-kernel.js';

export interface PeerFact {
  readonly address: string;
  readonly blocks: readonly string[];
  /** Names of sets whose members it wants as elements. */
  readonly joins?: readonly string[];
  readonly priority?: number;
}

declare module '@podwire/planner' {
  interface FactKinds {
    underlay: string;
    peer: PeerFact | undefined;
    set: ReadonlySet<string> | undefined;
    /** Derived: the kind of the underlay's link, `eth` or `wlan`. */
    medium: string;
    /** Derived: the gateway to a peer. */
    gateway: string;
  }
}

/** By name: `peer/a` is a {@link PeerFact}. */
export type FactMap = Map<string, unknown>;

const medium = (read: Read): string => read('underlay').replace(/\d+$/, '');

export const derivations: NonNullable<PlannerOptions<Resource>['derivations']> = {
  medium: (_, read) => medium(read),
  gateway(id, read) {
    const address = read(`peer/${id}`)?.address ?? 'none';
    return read('medium') === 'wlan' ? `via ${address}` : address;
  },
};

/** One route for each block, a parameter that all peers share, and the elements of sets. */
export function planPeer(scope: Scope, read: Read): Planned<Resource> | undefined {
  const id = scope.slice('peer/'.length);
  const peer = read(`peer/${id}`);
  if (peer === undefined) return undefined;
  const key = `net/ipv4/conf/${read('medium')}/forwarding`;
  const routes = peer.blocks.map((destination): Resource => ({
    ...{ kind: 'route', in: 'host', destination },
    ...{ link: read('underlay'), gateway: read(`gateway/${id}`) },
  }));
  return {
    resources: [{ kind: 'sysctl', in: 'host', key, value: '1' }, ...routes],
    collections: (peer.joins ?? []).map((set) => collect(`set/${set}`, (name) => [elementOf(set, name)])),
    priority: peer.priority ?? 0,
  };
}

export const elementOf = (set: string, name: string): Resource => ({
  ...{ kind: 'nft-element', family: 'inet', table: 'podwire', set },
  key: [{ type: 'ipv4_addr', value: name }],
});

export function createPlanner(
  facts: FactMap,
  options: Partial<PlannerOptions<Resource>> = {},
): Planner<Resource> {
  const readFact = (kind: string) => (id: string) => facts.get(id === '' ? kind : `${kind}/${id}`);
  return new Planner<Resource>({
    plan: planPeer,
    sources: {
      underlay: readFact('underlay') as () => string,
      peer: readFact('peer') as (id: string) => PeerFact | undefined,
      set: readFact('set') as (id: string) => ReadonlySet<string> | undefined,
    },
    derivations,
    keyOf,
    ...options,
  });
}

export const peersOf = (facts: FactMap): string[] =>
  [...facts.keys()].filter((key) => key.startsWith('peer/'));

export function planFromNothing(facts: FactMap): Planner<Resource> {
  const planner = createPlanner(facts);
  for (const peer of peersOf(facts)) planner.markScope(peer);
  planner.replan();
  return planner;
}

export const sorted = (planned: ReadonlyMap<string, Resource>) =>
  [...planned].sort(([a], [b]) => (a < b ? -1 : 1));
