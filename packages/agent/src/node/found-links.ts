/** Links in the namespaces of pods that other plugins have made. */
import { openIdentified } from '@podwire/backend-linux';
import type { NamespaceIdentity } from '@podwire/engine';
import { listAddresses, type NetlinkConnection, openRouteConnection, readLink } from '@podwire/netlink';
import type { FoundLink } from '@podwire/network-contract';
import { addressIn } from '@podwire/network-traffic';

/** Finds macvlan links in the namespace of a pod, by their names. */
export type FindLinks = (namespace: NamespaceIdentity, names: readonly string[]) => readonly FoundLink[];

/**
 * @throws PodwireError NAMESPACE_GONE
 * @param host a connection of the agent's own namespace, where such links have their parents
 */
export const createFindLinks =
  (host: NetlinkConnection): FindLinks =>
  (identity, names) => {
    const inside = openRouteInside(identity);
    try {
      return names.flatMap((name) => findLink(host, inside, name));
    } finally {
      inside.close();
    }
  };

/** The socket stays in the namespace without a handle of it. */
function openRouteInside(identity: NamespaceIdentity): NetlinkConnection {
  const namespace = openIdentified(identity);
  try {
    return openRouteConnection({ namespace });
  } finally {
    namespace.close();
  }
}

function findLink(host: NetlinkConnection, inside: NetlinkConnection, name: string): FoundLink[] {
  const { kind, parent, parentNamespace } = readLink(inside, name) ?? {};
  if (kind !== 'macvlan') return [];
  // Without the id of a namespace the parent lies in the pod as well.
  const isOnNode = parent !== undefined && parentNamespace !== undefined;
  const addresses = isOnNode ? listAddresses(host, { link: parent, family: 4 }) : [];
  return [{ name, parentAddresses: addresses.map(({ address }) => addressIn(address)) }];
}
