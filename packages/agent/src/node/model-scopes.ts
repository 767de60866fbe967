/** Scopes that the models of this node's networks add, and how they are. */
import type { DesiredState } from '@podwire/desired-state';
import { describeError } from '@podwire/errors';
import type { NetworkModel, ScopeState } from '@podwire/network-contract';
import { isOfModel } from './scope-kinds.js';

/** @throws RangeError where two models, or a model and the agent, have scopes or facts of one kind */
export function registerModelScopes(desired: DesiredState, models: Iterable<NetworkModel>): void {
  for (const { scopes = [] } of new Set(models))
    for (const { kind, ...plans } of scopes)
      desired.register({ kind, ...plans, ownerOf: (id) => `${kind}:${id}` });
}

/** @param scope KIND/ID, of a model */
export function readScopeState(desired: DesiredState, scope: `${string}/${string}`): ScopeState {
  const error = desired.problemOf(scope);
  if (error !== undefined) return { problem: describeError(error) };
  // Until the list of its kind is up to date, a scope that is new wants nothing, and would be in force.
  const list = scope.slice(0, scope.indexOf('/'));
  try {
    return desired.planner.isInForce([list, scope]) ? 'in-force' : 'pending';
  } catch (conflict) {
    return { problem: describeError(conflict) };
  }
}

/** For `status`, in words that begin with a code. */
export const describeScopeProblems = (desired: DesiredState): string[] =>
  [...desired.problems(isOfModel)].map(
    ([scope, error]) => `PLAN_FAILED: ${desired.ownerOf(scope)}: ${describeError(error)}`,
  );
