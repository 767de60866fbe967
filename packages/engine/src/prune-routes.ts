import { deleteRoute, type NewRoute, type Route } from '@podwire/netlink';
import type { EngineContext } from './context.js';
import { ROUTE_PROTOCOL } from './marks.js';
import type { Survey } from './observe.js';
import { groupBy } from './group-by.js';
import { isSameRoute } from './providers/routes.js';
import { deleteAll, type Pruned } from './pruned.js';
import type { IpRoute, Resource } from './resource.js';

/** Routes of Podwire's protocol that nobody wants: by destination, table and metric, since each such triple is a route of its own. */
export async function pruneRoutes(
  context: EngineContext,
  resources: readonly Resource[],
  { host }: Survey,
): Promise<Pruned[]> {
  const wanted = groupBy(resources.filter(isHostRoute), ({ destination }) => destination);
  const leftovers = host
    .routes()
    .filter((found) => found.protocol === ROUTE_PROTOCOL)
    .filter((found) => !wanted.get(found.destination)?.some((route) => isSameRoute(route, found)))
    .map((found) => ({ what: `route ${found.destination}`, request: () => deleteRoute(exactly(found)) }));
  return await deleteAll(context, leftovers);
}

const isHostRoute = (resource: Resource): resource is IpRoute =>
  resource.kind === 'route' && resource.in === 'host';

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
