/** Objects as the original's API gives them, and stores them: with the links that follow from the others. */
import type { ClusterView, Entries, LinkName, ObjectType } from '../contract.js';
import { referencesOf } from '../references.js';

interface Link {
  readonly type: string;
  readonly key: string;
}

export type Fields = Readonly<Record<string, unknown>>;

/** Links that stand in an answer also when they lead nowhere. */
const linkNames: Readonly<Record<ObjectType, readonly string[] | undefined>> = {
  global: undefined,
  tenant: undefined,
  network: ['Tenant'],
  endpointGroup: ['AppProfile', 'NetProfile', 'Network', 'Tenant'],
  policy: ['Tenant'],
  rule: ['MatchEndpointGroup'],
  netprofile: ['Tenant'],
  appProfile: ['Tenant'],
};

/** The fields that were asked for, without what belongs to the state. */
function configOf<T extends ObjectType>(type: T, entry: Entries[T]): Fields {
  const isWhole = type !== 'network' && type !== 'endpointGroup';
  return (isWhole ? entry : (entry as Entries['network'] | Entries['endpointGroup']).config) as Fields;
}

/** An object with its key and links. It must be there. */
export function renderObject(cluster: ClusterView, type: ObjectType, key: string): Fields {
  const entry = cluster.table(type).get(key);
  if (entry === undefined) throw new Error(`no ${type} ${key}`);
  const fields = Object.entries(configOf(type, entry as never))
    .filter(([, value]) => !isEmpty(value))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { key, ...Object.fromEntries(fields), ...renderLinks(cluster, type, key, entry as never) };
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === '' || value === 0 || (Array.isArray(value) && value.length === 0);

function renderLinks<T extends ObjectType>(
  cluster: ClusterView,
  type: T,
  key: string,
  entry: Entries[T],
): Fields {
  if (type === 'global') return {};
  const names = linkNames[type];
  const links: Record<string, Partial<Link>> = Object.fromEntries((names ?? []).map((name) => [name, {}]));
  const sets: Record<string, Record<string, Link>> = {};
  for (const { at, to } of linksOf(cluster, type, key, entry)) {
    if (at.among === 'links') links[at.name] = to;
    else (sets[at.name] ??= {})[to.key] = to;
  }
  return { 'link-sets': sorted(sets), ...(names !== undefined && { links }) };
}

interface PlacedLink {
  readonly at: LinkName;
  readonly to: Link;
}

function* linksOf<T extends ObjectType>(
  cluster: ClusterView,
  type: T,
  key: string,
  entry: Entries[T],
): Generator<PlacedLink> {
  for (const { type: to, key: toKey, forward } of referencesOf(type, entry))
    if (forward !== undefined) yield { at: forward, to: { type: to, key: toKey } };
  for (const { type: from, key: fromKey, reference } of cluster.referrers(type, key))
    if (reference.backward !== undefined) yield { at: reference.backward, to: { type: from, key: fromKey } };
}

/** Maps of the original are in order of their keys. */
function sorted(sets: Readonly<Record<string, Readonly<Record<string, Link>>>>): Fields {
  const inOrder = <T>(map: Readonly<Record<string, T>>): [string, T][] =>
    Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(inOrder(sets).map(([name, set]) => [name, Object.fromEntries(inOrder(set))]));
}
