import type { AnyResource, Observation, Observed, Resource } from '@podwire/engine';
import { hasCode } from '@podwire/linux';
import type { Place } from './places.js';

export const inPlace = (place: Place): string => (place === 'pod' ? ' in pod' : '');

/** Observes each resource. In a namespace that is gone nothing is observed. */
export function observeEach<R extends AnyResource>(
  resources: readonly R[],
  observe: (resource: R) => unknown,
): Observed {
  return new Map(
    resources.map((resource) => [resource as unknown as Resource, observeOne(() => observe(resource))]),
  );
}

function observeOne(observe: () => unknown): Observation {
  try {
    return { found: observe() };
  } catch (error) {
    if (hasCode(error, 'NAMESPACE_GONE')) return { gone: (error as Error).message };
    throw error;
  }
}
