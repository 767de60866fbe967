/** Scopes that the models of this node's networks add, and how they are. */
import type { DesiredState, KindFilter, ScopeKind } from '@podwire/desired-state';
import { describeError } from '@podwire/errors';
import type { NetworkModel } from '@podwire/network-contract';
import { besideNode } from '../cluster/peers.js';

/** @throws RangeError where two models, or a model and the agent, have scopes or facts of one kind */
export function registerModelScopes(desired: DesiredState, models: Iterable<NetworkModel>): void {
  for (const { scopes = [] } of new Set(models))
    for (const { kind, ...plans } of scopes)
      desired.register({ kind, ...plans, ownerOf: (id) => `${kind}:${id}` });
}

/** Outside clusters there are no peers; plans of models may ask for them all the same. */
export const noPeers: ScopeKind = {
  kind: 'peer',
  plan: () => undefined,
  ownerOf: (name) => `peer:${name}`,
  sources: { peers: () => new Set(), peer: () => undefined },
};

const isOfModel: KindFilter = (kind) => kind !== 'peer' && besideNode(kind);

/** For `status`, in words that begin with a code. */
export const describeScopeProblems = (desired: DesiredState): string[] =>
  [...desired.problems(isOfModel)].map(
    ([scope, error]) => `PLAN_FAILED: ${desired.ownerOf(scope)}: ${describeError(error)}`,
  );
