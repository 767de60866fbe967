import { hasCode } from '@podwire/linux';
import { deleteRoute, listLinks, listRoutes, type NewRoute, type Route } from '@podwire/netlink';
import { parseBody, type TableReference } from '@podwire/nftables';
import type { EngineContext } from './context.js';
import { adoptDoomed, buryLinks } from './doom.js';
import type { Owned } from './engine.js';
import { LIVE_GROUP, ROUTE_PROTOCOL, TABLE_PREFIX } from './marks.js';
import type { LinkReaper } from './reaper.js';
import { elementKey } from './observe.js';
import type { NftElement, NftTable, Resource } from './resource.js';

/** Something of Podwire's that belonged to no record and was taken away, in words: `link cali0123`. */
export interface Pruned {
  readonly what: string;
  readonly error?: unknown;
}

/**
 * Takes away what carries Podwire's mark on the host and is in nobody's list: the leftovers of a life that lost its
 * records. Never looks at anything without the mark.
 */
export function prune(context: EngineContext, reaper: LinkReaper, desired: readonly Owned[]): Pruned[] {
  const resources = desired.flatMap((owned) => owned.resources);
  return [
    ...pruneElements(context, resources),
    ...pruneTables(context, resources),
    ...pruneRoutes(context, resources),
    ...pruneLinks(context, reaper, resources),
  ];
}

function attempt(context: EngineContext, what: string, work: () => void): Pruned[] {
  context.faults.reach(`prune:${what.split(' ', 1)[0]}`);
  try {
    work();
    return [{ what }];
  } catch (error) {
    return hasCode(error, 'ENOENT', 'ESRCH', 'ENODEV') ? [] : [{ what, error }];
  }
}

function pruneLinks(context: EngineContext, reaper: LinkReaper, resources: readonly Resource[]): Pruned[] {
  const wanted = new Set(
    resources.flatMap((resource) => {
      if (resource.kind === 'veth') return [resource.host.name];
      return resource.kind === 'ifb' ? [resource.name] : [];
    }),
  );
  const { host } = context.kernel;
  const links = listLinks(host.route);
  adoptDoomed(reaper, links);
  const orphans = links.filter((link) => link.group === LIVE_GROUP && !wanted.has(link.name));
  return orphans.flatMap((link) =>
    attempt(context, `link ${link.name}`, () => buryLinks(reaper, host, [link])),
  );
}

function pruneRoutes(context: EngineContext, resources: readonly Resource[]): Pruned[] {
  const { route: connection } = context.kernel.host;
  const wanted = new Set(
    resources.flatMap((resource) =>
      resource.kind === 'route' && resource.in === 'host' ? [resource.destination] : [],
    ),
  );
  return listRoutes(connection, { protocol: ROUTE_PROTOCOL })
    .filter((found) => !wanted.has(found.destination))
    .flatMap((found) =>
      attempt(
        context,
        `route ${found.destination}`,
        () => void connection.request([deleteRoute(exactly(found))]),
      ),
    );
}

function exactly(route: Route): NewRoute {
  const { destination, table, protocol, link, metric } = route;
  return {
    destination,
    table,
    protocol,
    ...(link === undefined ? {} : { link }),
    ...(metric === undefined ? {} : { metric }),
  };
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

function pruneElements(context: EngineContext, resources: readonly Resource[]): Pruned[] {
  const { nftables } = context.kernel;
  const wanted = new Set(
    resources
      .filter((resource): resource is NftElement => resource.kind === 'nft-element')
      .map((element) => `${element.family} ${element.table} ${element.set} ${elementKey(element)}`),
  );
  return tablesOf(resources).flatMap(({ family, name: table, body }) =>
    managedSets(body).flatMap((set) =>
      listElements(context, { family, table, set })
        .filter(({ key }) => !wanted.has(`${family} ${table} ${set} ${elementKey({ key })}`))
        .flatMap(({ key }) =>
          attempt(context, `element ${elementKey({ key })} of set ${set}`, () =>
            nftables.change([{ op: 'destroy', family, table, set, key }]),
          ),
        ),
    ),
  );
}

/** Sets whose elements stand in the declaration itself (pools, say) are the table's own business. */
function managedSets(body: string): string[] {
  return parseBody(body)
    .filter(({ kind, text }) => (kind === 'set' || kind === 'map') && !text.includes('elements'))
    .map(({ name }) => name);
}

function listElements(
  context: EngineContext,
  { family, table, set }: Pick<NftElement, 'family' | 'table' | 'set'>,
) {
  try {
    return context.kernel.nftables.listElements(family, table, set);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
