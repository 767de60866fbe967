/** The floor: peers' resources as bare requests; nothing is looked up or remembered. */
import type { Resource } from '@podwire/engine';
import { openNamespace } from '@podwire/linux';
import {
  addForwardingEntryRequest,
  addNeighbourRequest,
  addRouteRequest,
  decodeLink,
  getLinkRequest,
  type NetlinkConnection,
  type NetlinkRequest,
  openRouteConnection,
} from '@podwire/netlink';
import { openNftables } from '@podwire/nftables';
import type { TestNamespace } from '@podwire/testkit';
import { performance } from 'node:perf_hooks';

const BATCH = 1_000;

/** Tells what encoding and sending took, each for itself. */
export function sendRaw(namespace: TestNamespace, resources: readonly Resource[]): void {
  const handle = openNamespace(namespace.path);
  const route = openRouteConnection({ namespace: handle });
  const nftables = openNftables({ namespace: handle });
  const begin = performance.now();
  const requests = encode(route, resources);
  const encoded = performance.now();
  for (let at = 0; at < requests.length; at += BATCH) route.request(requests.slice(at, at + BATCH));
  const sent = performance.now();
  const elements = resources.filter((resource) => resource.kind === 'nft-element');
  for (let at = 0; at < elements.length; at += BATCH)
    nftables.change(
      elements.slice(at, at + BATCH).map(({ kind: _, ...element }) => ({ op: 'add', ...element })),
    );
  const parts = [encoded - begin, sent - encoded, performance.now() - sent].map((part) => part.toFixed(0));
  console.log(`floor: encoding ${parts[0]} ms, rtnetlink ${parts[1]} ms, nftables ${parts[2]} ms`);
  nftables.close();
  route.close();
  handle.close();
}

function encode(route: NetlinkConnection, resources: readonly Resource[]): NetlinkRequest[] {
  const indexes = new Map<string, number>();
  const indexOf = (name: string): number => {
    const index = indexes.get(name) ?? decodeLink(route.request([getLinkRequest(name)]).flat()[0]!).index;
    indexes.set(name, index);
    return index;
  };
  return resources.flatMap((resource) => {
    switch (resource.kind) {
      case 'forwarding-entry':
        return [addForwardingEntryRequest({ ...resource, link: indexOf(resource.link), table: 'self' })];
      case 'neighbour':
        return [addNeighbourRequest({ ...resource, link: indexOf(resource.link) })];
      case 'route':
        return [
          addRouteRequest({ ...resource, type: 'unicast', link: indexOf(resource.link!), protocol: 157 }),
        ];
      default:
        return [];
    }
  });
}
