/** Resources in words, of whichever backends a node has. */
import { resourceKinds } from '@podwire/agent/resource-kinds';
import type { Kind, KindRegistry, Resource } from '@podwire/engine';

export interface ResourceWords {
  /** `route 10.244.0.5/32 dev cali0123` */
  readonly describe: (resource: Resource) => string;
  /** `node`, `pod`, `node+pod` for what joins them (a veth pair), or what else a backend distinguishes. */
  readonly placeOf: (resource: Resource) => string;
}

/** A resource of a kind that is unknown here, as an agent of a later version may have, is called by its kind. */
export function describeWith(kinds: Pick<KindRegistry, 'of'>): ResourceWords {
  return {
    describe: (resource) => findKind(kinds, resource)?.describe(resource) ?? resource.kind,
    placeOf(resource) {
      const kind = findKind(kinds, resource);
      if (kind === undefined) return 'node';
      // It carries what is on either end.
      if ((kind.carries?.(resource).length ?? 0) > 1) return 'node+pod';
      const place = kind.place(resource);
      return place === 'host' ? 'node' : place;
    },
  };
}

function findKind(kinds: Pick<KindRegistry, 'of'>, resource: Resource): Kind | undefined {
  try {
    return kinds.of(resource);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

export const resourceWords = describeWith(resourceKinds);
