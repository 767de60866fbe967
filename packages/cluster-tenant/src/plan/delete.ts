/** Deletes objects that are not in use. */
import type { Change, ClusterView, ObjectType, Plan } from '../contract.js';
import { invalidField } from '../objects/read-fields.js';
import { inUse } from '../problems.js';
import { requireEntry } from './shared.js';

/**
 * Rules go with their policy, and reservations with their network or group: they are no users.
 * @throws PodwireError OBJECT_UNKNOWN, OBJECT_IN_USE naming the users
 */
export function planDelete(cluster: ClusterView, type: ObjectType, key: string): Plan<string> {
  requireEntry(cluster, type, key);
  if (type === 'global')
    throw invalidField('global global', 'key', 'names the settings, which cannot be deleted');
  const users = [...usersOf(cluster, type, key)];
  if (users.length > 0) throw inUse(`${type} ${key}`, users);
  const own: Change = { type, key, value: undefined };
  return { changes: [...partsOf(cluster, type, key), own], answer: () => key };
}

function* usersOf(cluster: ClusterView, type: ObjectType, key: string): Generator<string> {
  for (const each of cluster.referrers(type, key))
    if (!(type === 'policy' && each.type === 'rule')) yield `${each.type} ${each.key}`;
  for (const id of endpointsOf(cluster, type, key)) yield `endpoint ${id}`;
}

function endpointsOf(cluster: ClusterView, type: ObjectType, key: string): Iterable<string> {
  if (type === 'network') return cluster.use(key).endpoints;
  return type === 'endpointGroup' ? cluster.endpointsOf(key) : [];
}

function* partsOf(cluster: ClusterView, type: ObjectType, key: string): Generator<Change> {
  if (type === 'policy')
    for (const rule of cluster.referrers('policy', key))
      if (rule.type === 'rule') yield { type: 'rule', key: rule.key, value: undefined };
  if (type !== 'network' && type !== 'endpointGroup') return;
  for (const [id, reservation] of cluster.table('reservation'))
    if ((type === 'network' ? reservation.network : reservation.group) === key)
      yield { type: 'reservation', key: id, value: undefined };
}
