/**
 * Which peers want what in one place of the kernel, which has room for one thing there. A node that was given the address of
 * another is known beside that one until that one is forgotten: what goes of the one must not take along what the other needs.
 */
import type { Resource } from '@podwire/engine';

export interface PeerPlaces {
  /** All that this peer wants from now on. */
  want(peer: string, resources: readonly Resource[]): void;
  /** What other peers want where this one has something. */
  others(peer: string, resource: Resource): readonly Claim[];
}

export interface Claim {
  readonly peer: string;
  readonly resource: Resource;
}

export function createPeerPlaces(): PeerPlaces {
  const wanted = new Map<string, readonly Resource[]>();
  const claims = new Map<string, readonly Claim[]>();

  function leave(peer: string, place: string): void {
    const rest = claims.get(place)?.filter((claim) => claim.peer !== peer) ?? [];
    if (rest.length > 0) claims.set(place, rest);
    else claims.delete(place);
  }
  return {
    want(peer, resources) {
      for (const resource of wanted.get(peer) ?? []) leave(peer, placeOf(resource));
      wanted.set(peer, resources);
      if (resources.length === 0) wanted.delete(peer);
      for (const resource of resources) {
        const place = placeOf(resource);
        claims.set(place, [...(claims.get(place) ?? []), { peer, resource }]);
      }
    },
    others: (peer, resource) => (claims.get(placeOf(resource)) ?? []).filter((claim) => claim.peer !== peer),
  };
}

/** What tells it from others of its kind; two resources of one place cannot both be there. */
function placeOf(resource: Resource): string {
  switch (resource.kind) {
    case 'route':
      return `route ${resource.destination} ${resource.table ?? ''} ${resource.metric ?? ''}`;
    case 'neighbour':
      return `neighbour ${resource.link} ${resource.address}`;
    case 'forwarding-entry':
      return `forwarding-entry ${resource.link} ${resource.mac}`;
    default:
      return JSON.stringify(resource);
  }
}
