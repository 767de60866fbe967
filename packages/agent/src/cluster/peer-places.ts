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

const nobody: readonly Claim[] = [];

export function createPeerPlaces(): PeerPlaces {
  const wanted = new Map<string, readonly Resource[]>();
  /** By place. Nearly every place is one peer's, and thousands of peers have some ten places each. */
  const claimants = new Map<string, string | readonly string[]>();

  const at = (place: string): readonly string[] => [claimants.get(place) ?? []].flat();

  function setClaimants(place: string, peers: readonly string[]): void {
    if (peers.length === 0) claimants.delete(place);
    else claimants.set(place, peers.length === 1 ? peers[0]! : peers);
  }
  return {
    want(peer, resources) {
      for (const place of (wanted.get(peer) ?? []).map(placeOf))
        setClaimants(
          place,
          at(place).filter((other) => other !== peer),
        );
      wanted.set(peer, resources);
      if (resources.length === 0) wanted.delete(peer);
      for (const place of resources.map(placeOf)) setClaimants(place, [...at(place), peer]);
    },
    others(peer, resource) {
      const place = placeOf(resource);
      if (claimants.get(place) === peer) return nobody;
      const peers = new Set(at(place));
      peers.delete(peer);
      return [...peers].flatMap((other) =>
        wanted
          .get(other)!
          .filter((each) => placeOf(each) === place)
          .map((each) => ({ peer: other, resource: each })),
      );
    },
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
    case 'nft-element':
      return `${resource.table} ${resource.set} ${resource.key.map(({ value }) => value).join(' ')}`;
    default:
      return JSON.stringify(resource);
  }
}
