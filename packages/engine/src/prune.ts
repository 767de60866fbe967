import { listLinks } from '@podwire/netlink';
import type { TableReference } from '@podwire/nftables';
import type { EngineContext } from './context.js';
import { adoptDoomed, buryLinks } from './doom.js';
import type { Owned } from './engine.js';
import { hostEndOf, isLink } from './link-resource.js';
import { LIVE_GROUP, TABLE_PREFIX } from './marks.js';
import type { Survey } from './observe.js';
import { pruneElements } from './prune-elements.js';
import { pruneRoutes } from './prune-routes.js';
import { pruneTunnels } from './prune-tunnels.js';
import { attempt, type Pruned } from './pruned.js';
import type { LinkReaper } from './reaper.js';
import type { NftTable, Resource } from './resource.js';

/**
 * Takes away what carries Podwire's mark on the host and is in nobody's list: the leftovers of a life that lost its
 * records. Never looks at anything without the mark.
 * @param survey what the host had before anything was repaired: what was made since is wanted
 */
export async function prune(
  context: EngineContext,
  reaper: LinkReaper,
  desired: readonly Owned[],
  survey: Survey,
): Promise<Pruned[]> {
  const resources = desired.flatMap((owned) => owned.resources);
  return [
    ...(await pruneElements(context, tablesOf(resources), resources)),
    ...pruneTables(context, resources),
    ...(await pruneTunnels(context, resources, survey)),
    ...(await pruneRoutes(context, resources, survey)),
    ...pruneLinks(context, reaper, resources),
  ];
}

function pruneLinks(context: EngineContext, reaper: LinkReaper, resources: readonly Resource[]): Pruned[] {
  const wanted = new Set(resources.filter(isLink).map(hostEndOf));
  const { host } = context.kernel;
  const links = listLinks(host.route);
  adoptDoomed(reaper, links);
  const orphans = links.filter((link) => link.group === LIVE_GROUP && !wanted.has(link.name));
  return orphans.flatMap((link) =>
    attempt(context, `link ${link.name}`, () => buryLinks(reaper, host, [link])),
  );
}

function pruneTables(context: EngineContext, resources: readonly Resource[]): Pruned[] {
  const { nftables } = context.kernel;
  const wanted = new Set(tablesOf(resources).map(nameOf));
  return nftables
    .listTables()
    .filter((table) => table.name.startsWith(TABLE_PREFIX) && !wanted.has(nameOf(table)))
    .flatMap((table) =>
      attempt(context, `nftables table ${nameOf(table)}`, () =>
        nftables.deleteTable(table.family, table.name),
      ),
    );
}

const nameOf = ({ family, name }: TableReference): string => `${family} ${name}`;

const tablesOf = (resources: readonly Resource[]): NftTable[] =>
  resources.filter((resource): resource is NftTable => resource.kind === 'nft-table');
