import { deleteAddress, deleteForwardingEntry, deleteNeighbour, type Link } from '@podwire/netlink';
import type { EngineContext } from './context.js';
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
  const links = [...names]
    .map((name) => host.link(name))
    .filter((link) => link?.kind === 'vxlan' && link.group === LIVE_GROUP);
  if (links.length === 0) return [];
  const wanted = wantedOn(names, resources);
  return await deleteAll(
    context,
    links.flatMap((link) => leftoversOn(link!, wanted, host)),
  );
}

function wantedOn(names: ReadonlySet<string>, resources: readonly Resource[]): ReadonlySet<string> {
  const wanted = new Set<string>();
  for (const resource of resources) {
    if (!('link' in resource) || resource.in !== 'host' || !names.has(resource.link ?? '')) continue;
    if (resource.kind === 'address' || resource.kind === 'neighbour')
      wanted.add(`${resource.kind} ${resource.address} on ${resource.link}`);
    if (resource.kind === 'forwarding-entry')
      wanted.add(`forwarding-entry ${resource.mac} on ${resource.link}`);
  }
  return wanted;
}

function leftoversOn(link: Link, wanted: ReadonlySet<string>, host: SurveyedNamespace): Leftover[] {
  const on = `on ${link.name}`;
  const permanent = host.neighbours(link).filter(({ state }) => state === 'permanent');
  const all: Leftover[] = [
    ...host.forwarding(link).map((entry) => ({
      what: `forwarding-entry ${entry.mac} ${on}`,
      request: deleteForwardingEntry(entry),
    })),
    ...permanent.map((entry) => ({
      what: `neighbour ${entry.address} ${on}`,
      request: deleteNeighbour(entry),
    })),
    ...host.addresses(link).map((entry) => ({
      what: `address ${entry.address} ${on}`,
      request: deleteAddress(entry),
    })),
  ];
  return all.filter(({ what }) => !wanted.has(what));
}
