/** Calico's objects, as its datastores have them; only what a test is about is said. */

export type Json = Readonly<Record<string, unknown>>;

export interface Allocation {
  readonly ordinal: number;
  readonly handle?: string;
  readonly node?: string;
  readonly pod?: string;
  /** More attributes: `type`, `timestamp`. */
  readonly more?: Readonly<Record<string, string>>;
  readonly releasedAt?: string;
}

/** The value of a block in etcd, and the spec of an IPAMBlock. */
export function block(
  cidr: string,
  affinity: string | null,
  allocations: readonly Allocation[],
  more: Json = {},
): Json {
  const [, length = ''] = cidr.split('/');
  const size = 2 ** ((cidr.includes(':') ? 128 : 32) - Number(length));
  const indexes = Array.from({ length: size }, (): number | null => null);
  for (const [at, { ordinal }] of allocations.entries()) indexes[ordinal] = at;
  return {
    cidr,
    affinity,
    allocations: indexes,
    unallocated: indexes.flatMap((each, ordinal) => (each === null ? [ordinal] : [])),
    attributes: allocations.map(toAttribute),
    deleted: false,
    strictAffinity: false,
    sequenceNumber: 1_709_287_500_000_000_000,
    sequenceNumberForAllocation: {},
    ...more,
  };
}

function toAttribute({ handle, node, pod, more, releasedAt }: Allocation): Json {
  const [namespace, name] = pod?.split('/') ?? [];
  return {
    ...(handle === undefined ? {} : { handle_id: handle }),
    secondary: {
      ...(node === undefined ? {} : { node }),
      ...(pod === undefined ? {} : { namespace, pod: name }),
      ...more,
    },
    ...(releasedAt === undefined ? {} : { releasedAt }),
  };
}

const group = 'crd.projectcalico.org/v1';

export const resource = (kind: string, name: string, spec: Json, metadata: Json = {}): Json => ({
  apiVersion: group,
  kind,
  metadata: { name, ...metadata },
  spec,
});

export const pool = (name: string, cidr: string, more: Json = {}): Json =>
  resource('IPPool', name, { cidr, blockSize: cidr.includes(':') ? 122 : 26, ...more });

export const crdBlock = (...args: Parameters<typeof block>): Json =>
  resource('IPAMBlock', args[0].replaceAll(/[.:/]/g, '-'), block(...args), {
    creationTimestamp: '2024-03-01T10:05:00Z',
  });

const slug = (cidr: string): string => cidr.replace('/', '-');
const family = (cidr: string): string => (cidr.includes(':') ? 'ipv6' : 'ipv4');

/** Keys and values of an etcd datastore. */
export type Pairs = readonly (readonly [string, string])[];

export const etcdBlock = (...args: Parameters<typeof block>): Pairs => [
  [`/calico/ipam/v2/assignment/${family(args[0])}/block/${slug(args[0])}`, JSON.stringify(block(...args))],
];

export const etcdAffinity = (node: string, cidr: string, state = 'confirmed'): Pairs => [
  [
    `/calico/ipam/v2/host/${node}/${family(cidr)}/block/${slug(cidr)}`,
    JSON.stringify({ state, deleted: false }),
  ],
];

export const etcdHandle = (id: string, counts: Readonly<Record<string, number>>): Pairs => [
  [`/calico/ipam/v2/handle/${id}`, JSON.stringify({ block: counts, deleted: false })],
];

export const etcdPool = (name: string, cidr: string, more: Json = {}): Pairs => [
  [
    `/calico/resources/v3/projectcalico.org/ippools/${name}`,
    JSON.stringify({ ...pool(name, cidr, more), apiVersion: 'projectcalico.org/v3' }),
  ],
];

/** As `etcdctl get --prefix /calico/` prints it. */
export const plainText = (pairs: Pairs): string => pairs.map(([key, value]) => `${key}\n${value}\n`).join('');

/** As `etcdctl get --prefix /calico/ -w json` prints it. */
export function jsonPage(pairs: Pairs, more = false): string {
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  const kvs = pairs.map(([key, value]) => ({
    key: encode(key),
    create_revision: 5,
    mod_revision: 7,
    version: 2,
    ...(value === '' ? {} : { value: encode(value) }),
  }));
  return `${JSON.stringify({
    header: { cluster_id: 1, member_id: 2, revision: 99, raft_term: 2 },
    kvs,
    ...(more ? { more } : {}),
    count: kvs.length,
  })}\n`;
}
