/** Objects of whatever form, sorted into a dump. */
import { isDeepStrictEqual } from 'node:util';
import { formatPrefix, parsePrefix } from '@podwire/addresses';
import type { z } from 'zod';
import { listSome, type Diagnostic, diagnosticsFor } from '../diagnostics.js';
import type {
  Dump,
  DumpedAffinity,
  DumpedBlock,
  DumpedEndpoint,
  DumpedHandle,
  DumpedPolicyObject,
  DumpedPool,
  DumpedReservation,
} from './dump.js';
import { isPolicyKind, readPolicyObject } from './policy-objects.js';
import * as shapes from './shapes.js';

/** An object before it is known to be right. */
export interface RawObject {
  /** As Kubernetes has it; `etcd:block` and so on for what has no kind there. */
  readonly kind: string;
  /** Namespace and name; what a key says. */
  readonly name: string;
  readonly file: string;
  readonly value: unknown;
}

interface Collected {
  readonly pools: DumpedPool[];
  readonly reservations: DumpedReservation[];
  config: shapes.ConfigSpec | undefined;
  readonly blocks: DumpedBlock[];
  readonly affinities: DumpedAffinity[];
  readonly handles: DumpedHandle[];
  readonly nodes: Map<string, Readonly<Record<string, string>>>;
  readonly endpoints: DumpedEndpoint[];
  readonly policies: DumpedPolicyObject[];
  readonly diagnostics: Diagnostic[];
}

interface Entry {
  readonly raw: RawObject;
  readonly object: string;
  readonly into: Collected;
}

export function collectObjects(objects: Iterable<RawObject>, diagnostics: readonly Diagnostic[]): Dump {
  const into: Collected = {
    pools: [],
    reservations: [],
    config: undefined,
    blocks: [],
    affinities: [],
    handles: [],
    nodes: new Map(),
    endpoints: [],
    policies: [],
    diagnostics: [...diagnostics],
  };
  const ignored = new Map<string, number>();
  const seen = new Map<string, unknown>();
  for (const raw of objects) {
    const take = takerOf(raw.kind);
    if (take === undefined) ignored.set(raw.kind, (ignored.get(raw.kind) ?? 0) + 1);
    else if (isNew(raw, seen, into.diagnostics)) take({ raw, object: nameOf(raw), into });
  }
  noteIgnored(ignored, into.diagnostics);
  return into;
}

function takerOf(kind: string): Taker | undefined {
  if (isPolicyKind(kind)) return takePolicyObject;
  return Object.hasOwn(takers, kind) ? takers[kind] : undefined;
}

const titles: Readonly<Record<string, string>> = {
  'etcd:block': 'IPAMBlock',
  'etcd:affinity': 'BlockAffinity',
  'etcd:handle': 'IPAMHandle',
  'etcd:config': 'IPAMConfig',
};

const nameOf = ({ kind, name }: RawObject): string => `${titles[kind] ?? kind} ${name}`;

/** Two files may have the same object; when it differs, they were not made at one time. */
function isNew(raw: RawObject, seen: Map<string, unknown>, diagnostics: Diagnostic[]): boolean {
  const object = nameOf(raw);
  // Kubernetes adds to the metadata what is of no concern here.
  const content = fields(raw.value)['spec'] ?? raw.value;
  if (!seen.has(object)) {
    seen.set(object, content);
    return true;
  }
  if (!isDeepStrictEqual(seen.get(object), content))
    diagnosticsFor(object, diagnostics).error(
      '',
      `is there twice, and not the same (${raw.file}); dump everything at one time`,
    );
  return false;
}

function noteIgnored(ignored: ReadonlyMap<string, number>, diagnostics: Diagnostic[]): void {
  if (ignored.size === 0) return;
  const kinds = [...ignored].map(([kind, count]) => `${count} ${kind}`).sort();
  diagnosticsFor('dump', diagnostics).note(`not taken over: ${listSome(kinds, 20)}`);
}

/** Reads a value; what is wrong becomes a diagnostic. */
function read<T>(schema: z.ZodType<T>, value: unknown, { object, into }: Entry, at: string): T | undefined {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const diagnostics = diagnosticsFor(object, into.diagnostics);
  for (const { path, message } of result.error.issues)
    diagnostics.error([at, ...path.map(String)].filter((part) => part !== '').join('.'), message);
  return undefined;
}

const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** For a resource: its metadata and its spec. */
function readResource<T>(schema: z.ZodType<T>, entry: Entry) {
  const { metadata, spec } = fields(entry.raw.value);
  const meta = read(shapes.metadata, metadata, entry, 'metadata');
  const found = read(schema, spec ?? {}, entry, 'spec');
  return meta === undefined || found === undefined ? undefined : { meta, spec: found };
}

const time = (text: string | null | undefined): number => {
  const parsed = Date.parse(text ?? '');
  return Number.isNaN(parsed) ? 0 : parsed;
};

/** Prefixes are compared as text later. */
export const canonical = (cidr: string): string => formatPrefix(parsePrefix(cidr, { loose: true }));

type Taker = (entry: Entry) => void;

const takeConfig: Taker = (entry) => {
  const found = readResource(shapes.configSpec, entry);
  if (found !== undefined) entry.into.config = found.spec;
};

const takers: Readonly<Record<string, Taker>> = {
  IPPool(entry) {
    const found = readResource(shapes.poolSpec, entry);
    if (found === undefined) return;
    const { name, deletionTimestamp } = found.meta;
    entry.into.pools.push({
      object: entry.object,
      name,
      deleting: deletionTimestamp != null,
      spec: found.spec,
    });
  },
  IPReservation(entry) {
    const found = readResource(shapes.reservationSpec, entry);
    if (found !== undefined)
      entry.into.reservations.push({ object: entry.object, cidrs: found.spec.reservedCIDRs.map(canonical) });
  },
  IPAMConfig: takeConfig,
  IPAMConfiguration: takeConfig,
  'etcd:config'(entry) {
    const found = read(shapes.etcdConfig, entry.raw.value, entry, '');
    if (found !== undefined) entry.into.config = found;
  },
  IPAMBlock(entry) {
    const found = readResource(shapes.blockSpec, entry);
    if (found !== undefined) takeBlock(entry, found.spec, time(found.meta.creationTimestamp));
  },
  'etcd:block'(entry) {
    const found = read(shapes.blockSpec, entry.raw.value, entry, '');
    if (found !== undefined) takeBlock(entry, found, 0);
  },
  BlockAffinity(entry) {
    const found = readResource(shapes.affinitySpec, entry);
    if (found === undefined || isDeleted(entry, found.spec.deleted)) return;
    const { cidr, node, type, state } = found.spec;
    takeAffinity(entry, { cidr, node, type: type === '' ? 'host' : type, state: state || 'confirmed' });
  },
  'etcd:affinity'(entry) {
    const found = read(shapes.etcdAffinity, entry.raw.value, entry, '');
    if (found === undefined || isDeleted(entry, found.deleted)) return;
    const [type, node, cidr] = entry.raw.name.split(' ');
    const key = read(shapes.etcdAffinityKey, { type, node, cidr }, entry, 'key');
    if (key !== undefined) takeAffinity(entry, { ...key, state: found.state || 'confirmed' });
  },
  IPAMHandle(entry) {
    const found = readResource(shapes.handleSpec, entry);
    if (found === undefined || isDeleted(entry, found.spec.deleted)) return;
    entry.into.handles.push({
      object: entry.object,
      id: found.spec.handleID,
      counts: withCanonicalKeys(found.spec.block),
    });
  },
  'etcd:handle'(entry) {
    const found = read(shapes.etcdHandle, entry.raw.value, entry, '');
    if (found === undefined || isDeleted(entry, found.deleted)) return;
    entry.into.handles.push({
      object: entry.object,
      id: entry.raw.name,
      counts: withCanonicalKeys(found.block),
    });
  },
  Node: takeNode,
  'Kubernetes Node': takeNode,
  WorkloadEndpoint(entry) {
    const found = readResource(shapes.endpointSpec, entry);
    if (found === undefined) return;
    const { node, pod, ipNetworks } = found.spec;
    entry.into.endpoints.push({
      object: entry.object,
      node,
      pod: pod === '' ? '' : `${found.meta.namespace ?? 'default'}/${pod}`,
      addresses: ipNetworks.map(withoutLength),
    });
  },
  'Kubernetes Pod': takePod,
};

/** With one that is not supported nothing is imported: without it, more or less would be open than before. */
function takePolicyObject({ raw, object, into }: Entry): void {
  const { checked, created } = readPolicyObject(raw.kind, raw.value);
  if (checked.ok) into.policies.push({ object, value: checked.object, created });
  else
    for (const { path, message } of checked.problems)
      diagnosticsFor(object, into.diagnostics).error(path.join('.'), message);
}

/** Calico's own and Kubernetes': either may have the labels. */
function takeNode(entry: Entry): void {
  const meta = read(shapes.metadata, fields(entry.raw.value)['metadata'], entry, 'metadata');
  if (meta === undefined) return;
  entry.into.nodes.set(meta.name, { ...entry.into.nodes.get(meta.name), ...meta.labels });
}

function takeBlock(entry: Entry, spec: shapes.BlockSpec, createdAt: number): void {
  if (isDeleted(entry, spec.deleted)) return;
  entry.into.blocks.push({ object: entry.object, createdAt, spec: { ...spec, cidr: canonical(spec.cidr) } });
}

function takeAffinity({ object, into }: Entry, affinity: Omit<DumpedAffinity, 'object'>): void {
  into.affinities.push({ ...affinity, object, cidr: canonical(affinity.cidr) });
}

/** Calico marks objects before it deletes them, and treats a marked one as deleted. */
function isDeleted({ object, into }: Entry, deleted: boolean): boolean {
  if (deleted) diagnosticsFor(object, into.diagnostics).note('is marked as deleted and left out');
  return deleted;
}

function takePod(entry: Entry): void {
  const meta = read(shapes.metadata, fields(entry.raw.value)['metadata'], entry, 'metadata');
  const pod = read(shapes.podObject, entry.raw.value, entry, '');
  // One that has ended has no address any more; one in the host's network has none of a pool.
  if (meta === undefined || pod === undefined || pod.spec?.hostNetwork === true) return;
  if (['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')) return;
  const addresses = pod.status?.podIPs?.map(({ ip }) => ip) ?? [pod.status?.podIP ?? ''];
  entry.into.endpoints.push({
    object: entry.object,
    node: pod.spec?.nodeName ?? '',
    pod: `${meta.namespace ?? 'default'}/${meta.name}`,
    addresses: addresses.filter((each) => each !== '').map(withoutLength),
  });
}

const withoutLength = (text: string): string => text.split('/', 1)[0] ?? '';

const withCanonicalKeys = (counts: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).map(([cidr, count]) => [canonical(cidr), count]));
