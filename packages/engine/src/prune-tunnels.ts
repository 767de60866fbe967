import {
  deleteAddress,
  deleteForwardingEntry,
  deleteNeighbour,
  type Link,
  type NetlinkRequest,
} from '@podwire/netlink';
import type { EngineContext } from './context.js';
import { keepOthers } from './last-address.js';
import { LIVE_GROUP } from './marks.js';
import type { Survey, SurveyedNamespace } from './observe.js';
import { deleteAll, type Leftover, type Pruned } from './pruned.js';
import type { Resource } from './resource.js';

/** Everything on a tunnel device of ours is ours, so what nobody wants of it goes: peers that are gone, addresses given back. */
export async function pruneTunnels(
  context: EngineContext,
  resources: readonly Resource[],
  { host }: Survey,
): Promise<Pruned[]> {
  const names = new Set(resources.flatMap((resource) => (resource.kind === 'vxlan' ? [resource.name] : [])));
  const pruned: Pruned[] = [];
  for (const name of names) {
    const link = host.link(name);
    if (link?.kind !== 'vxlan' || link.group !== LIVE_GROUP) continue;
    pruned.push(...(await pruneTunnel(context, link, wantedOn(name, resources), host)));
  }
  return pruned;
}

async function pruneTunnel(
  context: EngineContext,
  link: Link,
  wanted: Wanted,
  host: SurveyedNamespace,
): Promise<Pruned[]> {
  const addresses = host.addresses(link).filter(({ address }) => !wanted.addresses.has(address));
  const restore = keepOthers(context.kernel.host.route, addresses, {
    route: () => false,
    neighbour: ({ address }) => !wanted.neighbours.has(address),
  });
  const pruned = await deleteAll(context, leftoversOn(link, wanted, host));
  try {
    restore();
    return pruned;
  } catch (error) {
    return [...pruned, { what: `addresses of ${link.name}`, error }];
  }
}

/** What is wanted on one link, by the text that tells it from others of its kind. */
interface Wanted {
  readonly addresses: Set<string>;
  readonly neighbours: Set<string>;
  readonly macs: Set<string>;
}

function wantedOn(name: string, resources: readonly Resource[]): Wanted {
  const wanted: Wanted = { addresses: new Set(), neighbours: new Set(), macs: new Set() };
  for (const resource of resources) {
    if (!('link' in resource) || resource.in !== 'host' || resource.link !== name) continue;
    if (resource.kind === 'address') wanted.addresses.add(resource.address);
    if (resource.kind === 'neighbour') wanted.neighbours.add(resource.address);
    if (resource.kind === 'forwarding-entry') wanted.macs.add(resource.mac);
  }
  return wanted;
}

function leftoversOn(link: Link, wanted: Wanted, host: SurveyedNamespace): Leftover[] {
  const leftover = (what: string, request: () => NetlinkRequest): Leftover => ({
    what: `${what} on ${link.name}`,
    request,
  });
  return [
    ...host
      .forwarding(link)
      .filter(({ mac }) => !wanted.macs.has(mac))
      .map((entry) => leftover(`forwarding-entry ${entry.mac}`, () => deleteForwardingEntry(entry))),
    ...host
      .neighbours(link)
      .filter(({ state, address }) => state === 'permanent' && !wanted.neighbours.has(address))
      .map((entry) => leftover(`neighbour ${entry.address}`, () => deleteNeighbour(entry))),
    ...host
      .addresses(link)
      .filter(({ address }) => !wanted.addresses.has(address))
      .map((entry) => leftover(`address ${entry.address}`, () => deleteAddress(entry))),
  ];
}
