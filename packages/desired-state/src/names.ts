/** Names of scopes, of owners and of keys. Pure. */
import type { Change, KindRegistry, OwnerId, Resource } from '@podwire/engine';
import type { Scope } from '@podwire/planner';

export function kindNameOf(scope: Scope): string {
  const slash = scope.indexOf('/');
  return slash < 0 ? scope : scope.slice(0, slash);
}

export const idOf = (scope: Scope): string => scope.slice(kindNameOf(scope).length + 1);

/** Resources in a pod's namespace belong to their scope alone, and so do their keys. */
export function keyIn(kinds: KindRegistry, resource: Resource, scope: Scope): string {
  const key = kinds.keyOf(resource);
  return kinds.of(resource).place(resource) === 'pod' ? `${scope} ${key}` : key;
}

/** The owners that a reconcile could not put in order, with the last error. */
export const failuresOf = (changes: readonly Change[]): Map<OwnerId, unknown> =>
  new Map(
    changes.flatMap(({ action, owner, error }) =>
      action === 'failed' && owner !== undefined ? [[owner, error] as const] : [],
    ),
  );
