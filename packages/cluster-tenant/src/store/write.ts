/** Carries plans out in the store. */
import { PodwireError } from '@podwire/errors';
import type { Condition, Store, Write } from '@podwire/store';
import type { Change, ClusterView, EntryType, ObjectType } from '../contract.js';
import { keyOfGroup } from '../cluster.js';
import { exhausted } from '../problems.js';
import { referencesOf } from '../references.js';
import { itemsOf } from './layout.js';
import type { Snapshot, StoredText } from './read.js';

export interface WriteOptions {
  readonly store: Pick<Store, 'transact' | 'limits'>;
  /** Conditions of all that is written: the leader's claim. */
  readonly guard: readonly Condition[];
  readonly signal: AbortSignal;
}

/**
 * Makes the changes in the snapshot and in the store: in one transaction, unless there are more than one holds. Then the
 * objects go first, and what follows from them behind; a new leader makes up for what is missing.
 * @throws PodwireError STORE_CONFLICT when another writer was there, or another one leads, STORE_UNAVAILABLE, and
 * TENANT_EXHAUSTED for an object that no item of the store can hold; the snapshot is of no use then
 */
export async function writeChanges(
  { cluster, stored }: Snapshot,
  changes: readonly Change[],
  options: WriteOptions,
): Promise<void> {
  const before = affectedBy(cluster, changes);
  cluster.apply(changes);
  const named = [...changes, ...before, ...affectedBy(cluster, changes)];
  const writes = writesFor(cluster, stored, named);
  requireRoom(writes, options.store);
  // An object that is put as it is comes as a change all the same, and without a write no condition would be checked.
  if (writes.length === 0) await requireClaim(options);
  else await writeItems(stored, writes, options);
}

/**
 * For an answer without a change: one from the memory of a former leader could name an address that another endpoint has by now.
 * @throws PodwireError STORE_CONFLICT when another one leads, STORE_UNAVAILABLE
 */
export async function requireClaim({ store, guard, signal }: WriteOptions): Promise<void> {
  if (guard.length === 0) return;
  const outcome = await store.transact({ conditions: guard, writes: [] }, { signal });
  if (!outcome.committed) throw changed();
}

/** Writes what follows from the objects and is not in the store as it should be. @returns how many items */
export async function repairItems({ cluster, stored }: Snapshot, options: WriteOptions): Promise<number> {
  const all = objectTypes.flatMap((type) => [...cluster.table(type).keys()].map((key) => ({ type, key })));
  const writes = writesFor(cluster, stored, all);
  await writeItems(stored, writes, options);
  return writes.length;
}

/** Endpoints and reservations follow from nothing else. */
const objectTypes: readonly ObjectType[] = [
  ...(['global', 'tenant', 'network', 'endpointGroup', 'policy'] as const),
  ...(['rule', 'netprofile', 'appProfile'] as const),
];

interface Named {
  readonly type: EntryType;
  readonly key: string;
}

/** Entries whose items change with the changes: both ends of a link, and all that is counted. */
function affectedBy(cluster: ClusterView, changes: readonly Change[]): Named[] {
  return changes.flatMap(({ type, key }) => {
    if (type === 'endpoint') return affectedByEndpoint(cluster, key);
    if (type === 'reservation') {
      const reservation = cluster.table('reservation').get(key);
      return reservation === undefined ? [] : placeOf(reservation.network, reservation.group);
    }
    return affectedByObject(cluster, type, key);
  });
}

function affectedByEndpoint(cluster: ClusterView, id: string): Named[] {
  const endpoint = cluster.table('endpoint').get(id);
  if (endpoint === undefined) return [];
  const network = cluster.networkById(endpoint.netID)?.config;
  return placeOf(network && `${network.tenantName}:${network.networkName}`, keyOfGroup(endpoint));
}

function placeOf(network: string | undefined, group: string | undefined): Named[] {
  return [
    ...(network === undefined ? [] : [{ type: 'network', key: network } as const]),
    ...(group === undefined || group === '' ? [] : [{ type: 'endpointGroup', key: group } as const]),
  ];
}

function affectedByObject(cluster: ClusterView, type: ObjectType, key: string): Named[] {
  const entry = cluster.table(type).get(key);
  if (entry === undefined) return [];
  const users = type === 'netprofile' ? cluster.referrers(type, key) : [];
  return [...referencesOf(type, entry as never), ...users];
}

/** The first time that an entry is named decides about its place. */
function writesFor(
  cluster: ClusterView,
  stored: ReadonlyMap<string, StoredText>,
  named: readonly Named[],
): Write[] {
  const writes = new Map<string, Write>();
  const seen = new Set<string>();
  for (const { type, key } of named) {
    if (seen.has(`${type} ${key}`)) continue;
    seen.add(`${type} ${key}`);
    for (const [item, text] of itemsOf(cluster, { type, key })) {
      if (text === stored.get(item)?.text) continue;
      writes.set(
        item,
        text === undefined ? { op: 'delete', key: item } : { op: 'put', key: item, value: text },
      );
    }
  }
  return [...writes.values()];
}

/** Objects grow with those that name them: a tenant lists its networks, groups and policies. */
function requireRoom(writes: readonly Write[], { limits }: WriteOptions['store']): void {
  for (const write of writes) {
    if (write.op === 'delete' || Buffer.byteLength(write.value) <= limits.valueBytes) continue;
    throw exhausted(
      write.key,
      `with its links it has more than the ${limits.valueBytes} bytes that an item of the store holds`,
      'Delete objects that name it, or spread them over several tenants.',
    );
  }
}

async function writeItems(
  stored: Map<string, StoredText>,
  writes: readonly Write[],
  { store, guard, signal }: WriteOptions,
): Promise<void> {
  const most = store.limits.operations - guard.length;
  for (let at = 0; at < writes.length; at += most) {
    const part = writes.slice(at, at + most);
    const conditions = part.map(
      ({ key }) => ({ key, expect: stored.get(key)?.revision ?? 'absent' }) as const,
    );
    const outcome = await store.transact({ conditions: [...guard, ...conditions], writes: part }, { signal });
    if (!outcome.committed) throw changed();
    for (const write of part)
      if (write.op === 'delete') stored.delete(write.key);
      else stored.set(write.key, { text: write.value, revision: outcome.revision });
  }
}

const changed = (): PodwireError =>
  new PodwireError(
    'STORE_CONFLICT',
    'another writer has changed what the request depends on, or leads by now',
  );
