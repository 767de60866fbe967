import { hasCode } from '@podwire/linux';
import type { EngineContext } from './context.js';
import type { Drift, Owned } from './engine.js';
import type { Survey, View } from './observe.js';
import { POD_LIMIT } from './probe-pod.js';
import { compareResource } from './providers/index.js';
import type { Resource } from './resource.js';
import { openView } from './view.js';
import { openSession } from './session.js';

/** What of a list is missing or changed, in the list's order; see `Engine.verify`. */
export function findDrift(context: EngineContext, owned: Owned, survey?: Survey): Drift[] {
  const session = openSession(context.kernel, owned);
  try {
    return driftsIn(owned.resources, openView(session, survey));
  } finally {
    session.close();
  }
}

export function driftsIn(resources: readonly Resource[], view: View): Drift[] {
  return resources.flatMap((resource) => driftOf(resource, view));
}

function driftOf(resource: Resource, view: View): Drift[] {
  const difference = differenceOf(resource, view);
  if (difference === undefined) return [];
  if (typeof difference === 'string') return [{ resource, state: 'changed', detail: difference }];
  if ('foreign' in difference)
    return [{ resource, state: 'changed', detail: difference.foreign, isForeign: true }];
  return [{ resource, state: 'missing', detail: `${difference.missing}${describeRest(resource, view)}` }];
}

/** It may be there all the same. */
function describeRest(resource: Resource, view: View): string {
  const isPartial = 'in' in resource && view.side(resource.in).partial?.has(resource.kind) === true;
  return isPartial ? ` among the first ${POD_LIMIT} of its kind in the pod; there are more` : '';
}

/** In a namespace that is gone everything is missing. */
function differenceOf(resource: Resource, view: View): ReturnType<typeof compareResource> {
  try {
    return compareResource(resource, view);
  } catch (error) {
    if (hasCode(error, 'NAMESPACE_GONE')) return { missing: (error as Error).message };
    throw error;
  }
}
