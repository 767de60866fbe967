/** Links in the namespaces of pods that other plugins have made. */
import type { NamespaceIdentity } from '@podwire/engine';
import { openNamespace } from '@podwire/linux';
import { listAddresses, type NetlinkConnection, openRouteConnection, readLink } from '@podwire/netlink';
import type { FoundLink } from '@podwire/network-contract';

/** Finds macvlan links in the namespace of a pod, by their names. */
export type FindLinks = (namespace: NamespaceIdentity, names: readonly string[]) => readonly FoundLink[];

/** @param host a connection of the agent's own namespace, where such links have their parents */
export const createFindLinks =
  (host: NetlinkConnection): FindLinks =>
  ({ path }, names) => {
    const namespace = openNamespace(path);
    try {
      const inside = openRouteConnection({ namespace });
      try {
        return names.flatMap((name) => findLink(host, inside, name));
      } finally {
        inside.close();
      }
    } finally {
      namespace.close();
    }
  };

function findLink(host: NetlinkConnection, inside: NetlinkConnection, name: string): FoundLink[] {
  const { kind, parent, parentNamespace } = readLink(inside, name) ?? {};
  if (kind !== 'macvlan') return [];
  // Without the id of a namespace the parent lies in the pod as well.
  const isOnNode = parent !== undefined && parentNamespace !== undefined;
  const addresses = isOnNode ? listAddresses(host, { link: parent, family: 4 }) : [];
  return [{ name, parentAddresses: addresses.map(({ address }) => address.split('/')[0]!) }];
}
