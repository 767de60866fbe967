/** One look at the store: the cluster as it is there. */
import { PodwireError } from '@podwire/errors';
import type { Item, Revision, Store } from '@podwire/store';
import { z } from 'zod';
import { Cluster } from '../cluster.js';
import type { Change, Endpoint, EntryType, Reservation } from '../contract.js';
import { groupId, networkId } from '../keys.js';
import { readFields } from '../objects/read-fields.js';
import {
  appProfileSchema,
  globalSchema,
  groupSchema,
  netprofileSchema,
  networkSchema,
  policySchema,
  ruleSchema,
  tenantSchema,
} from '../objects/schemas.js';
import { globalDefaults } from '../plan/globals.js';
import { referencesOf } from '../references.js';
import { folders, objectKey, root } from './layout.js';

/** An item as it is in the store now. */
export interface StoredText {
  readonly text: string;
  readonly revision: Revision;
}

export interface Snapshot {
  readonly cluster: Cluster;
  readonly stored: Map<string, StoredText>;
}

/**
 * @throws PodwireError OBJECT_INVALID naming the key of something that cannot be read: until it is put right, nothing can be
 * handed out, since it may be taken already; STORE_UNAVAILABLE, STORE_DENIED
 */
export async function readCluster(store: Pick<Store, 'list'>, signal: AbortSignal): Promise<Snapshot> {
  const { items } = await store.list(`${root}/`, { signal });
  const stored = new Map(items.map(({ key, value, revision }) => [key, { text: value, revision }]));
  const changes = readChanges(items, stored);
  const cluster = new Cluster(changes);
  for (const change of changes) requireWhole(cluster, change);
  return { cluster, stored };
}

/** Everything that an entry is in or names is there: what it holds would be handed out again otherwise. */
function requireWhole(cluster: Cluster, { type, key, value }: Change): void {
  if (type === 'endpoint') {
    const { netID } = value as Endpoint;
    if (cluster.networkById(netID) === undefined)
      throw invalid(folders.endpoints + key, `is of network ${netID}, which is not there`);
  } else if (type === 'reservation') {
    const { network } = value as Reservation;
    if (!cluster.table('network').has(network))
      throw invalid(folders.reservations + key, `is of network ${network}, which is not there`);
  } else
    for (const named of referencesOf(type, value as never))
      if (!cluster.table(named.type).has(named.key))
        throw invalid(objectKey(type, key), `names ${named.type} ${named.key}, which is not there`);
}

/** Types in an order in which each comes behind what it is in. */
const order = [
  'global',
  'tenant',
  'network',
  'policy',
  'netprofile',
  'endpointGroup',
  'rule',
  'appProfile',
] as const;

function readChanges(items: readonly Item[], stored: ReadonlyMap<string, StoredText>): Change[] {
  const below = (folder: string): readonly Item[] => items.filter(({ key }) => key.startsWith(folder));
  const objects = order.flatMap((type) =>
    below(`${folders.objects}${type}/`).map((item) => readObject(type, item, stored)),
  );
  const endpoints = below(folders.endpoints).map((item) =>
    toChange('endpoint', item, parseWith(endpointSchema, item.key, item.value)),
  );
  const reservations = below(folders.reservations).map((item) =>
    toChange('reservation', item, readJson(reservationSchema, item)),
  );
  return [...objects, ...endpoints, ...reservations];
}

type Shared = (typeof order)[number];

const schemas = {
  tenant: tenantSchema,
  network: networkSchema,
  endpointGroup: groupSchema,
  policy: policySchema,
  rule: ruleSchema,
  netprofile: netprofileSchema,
  appProfile: appProfileSchema,
} as const;

function readObject(type: Shared, item: Item, stored: ReadonlyMap<string, StoredText>): Change {
  if (type === 'global')
    return { type, key: 'global', value: { ...globalDefaults, ...(readJson(globalSchema, item) as object) } };
  const value = readJson<unknown>(schemas[type], item);
  if (type === 'network') {
    const config = value as z.infer<typeof networkSchema>;
    const tags = readState(tagsSchema, `${folders.networks}${networkId(config)}`, stored);
    return toChange('network', item, { config, tags });
  }
  if (type === 'endpointGroup') {
    const config = value as z.infer<typeof groupSchema>;
    const { endpointGroupId } = readState(idSchema, `${folders.groups}${groupId(config)}`, stored);
    return toChange('endpointGroup', item, { config, id: endpointGroupId });
  }
  return toChange(type, item, value);
}

/** The key of an entry is the end of that of its item. */
function toChange(type: EntryType, { key }: Item, value: unknown): Change {
  const folder =
    type === 'endpoint' || type === 'reservation' ? folders[`${type}s`] : `${folders.objects}${type}/`;
  return { type, key: key.slice(folder.length), value } as Change;
}

const tagsSchema = z.object({ pktTag: z.number().int(), extPktTag: z.number().int() });
const idSchema = z.object({ endpointGroupId: z.number().int().min(1).max(65_535) });
const text = z.string().default('');
const endpointSchema: z.ZodType<Endpoint> = z.object({
  ...{ id: z.string(), netID: z.string(), endpointID: z.string(), serviceName: text },
  ...{ endpointGroupId: z.number().default(0), endpointGroupKey: text },
  ...{ ipAddress: z.ipv4(), ipv6Address: text, macAddress: text },
  ...{ homingHost: text, intfName: text, vtepIP: text },
  labels: z
    .record(z.string(), z.string())
    .nullish()
    .transform((labels) => labels ?? {}),
  ...{ containerId: text, epCommonName: text },
});
const reservationSchema = z.object({
  network: z.string(),
  group: text,
  address: z.ipv4(),
}) satisfies z.ZodType<Reservation>;

/** States have what was handed out to an object; without it what is free is not known. */
function readState<T>(schema: z.ZodType<T>, key: string, stored: ReadonlyMap<string, StoredText>): T {
  const state = stored.get(key);
  if (state === undefined) throw invalid(key, 'is missing, and the object that it is of is there');
  return parseWith(schema, key, state.text);
}

function readJson<T>(schema: z.ZodType<T>, { key, value }: Item): T {
  try {
    return readFields(schema, key, JSON.parse(value));
  } catch (cause) {
    throw invalid(key, 'cannot be read', cause);
  }
}

function parseWith<T>(schema: z.ZodType<T>, key: string, value: string): T {
  try {
    return schema.parse(JSON.parse(value));
  } catch (cause) {
    throw invalid(key, 'cannot be read', cause);
  }
}

const invalid = (key: string, message: string, cause?: unknown): PodwireError =>
  new PodwireError('OBJECT_INVALID', `${key} ${message}`, {
    cause,
    details: { key },
    action: 'Put the item right, or delete it with its object. Until then no request is answered.',
  });
