/** Deletes endpoints that no agent will delete any more: those of a node that is gone, by hand. */
import type { ClusterView, Plan } from '../contract.js';
import { invalidField } from '../objects/read-fields.js';
import { requireEntry } from './shared.js';

/**
 * @param category `net` for all endpoints of a network, `group` for those of a group, `ep` for one container
 * @throws PodwireError REQUEST_INVALID, OBJECT_UNKNOWN
 */
export function planCleanUp(
  cluster: ClusterView,
  tenant: string,
  category: string,
  id: string,
): Plan<string> {
  const ids = [...findEndpoints(cluster, tenant, category, id)];
  const changes = ids.map((key) => ({ type: 'endpoint', key, value: undefined }) as const);
  return { changes, answer: () => `deleted ${ids.length} endpoints` };
}

function findEndpoints(cluster: ClusterView, tenant: string, category: string, id: string): Iterable<string> {
  const key = `${tenant}:${id}`;
  switch (category) {
    case 'net':
      requireEntry(cluster, 'network', key);
      return cluster.use(key).endpoints;
    case 'group':
      requireEntry(cluster, 'endpointGroup', key);
      return cluster.endpointsOf(key);
    case 'ep':
      return findContainers(cluster, tenant, id);
    default:
      throw invalidField('epcleanup', 'category', 'must be net, group or ep');
  }
}

function* findContainers(cluster: ClusterView, tenant: string, container: string): Generator<string> {
  for (const [id, { endpointID, netID }] of cluster.table('endpoint'))
    if (endpointID === container && cluster.networkById(netID)?.config.tenantName === tenant) yield id;
}
