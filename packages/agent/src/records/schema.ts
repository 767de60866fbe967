/** What a record must be like to be worked with. A resource that passes can be put into words for the kernel. */
import { isIP } from 'node:net';
import { addressBits, familyOf } from '@podwire/addresses';
import type { Resource } from '@podwire/engine';
import { z } from 'zod';

const text = z.string().min(1).max(255);
const count = z.int().min(0);
const side = z.enum(['host', 'pod']);
const link = z.string().regex(/^[^/\s]{1,15}$/, 'no name of a link');
const mac = z.string().regex(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/, 'no MAC address');
const address = z.string().refine(isAddress, 'no address');
const prefix = z.string().refine(isPrefix, 'no ADDRESS/LENGTH');
const family = z.enum(['ip', 'ip6', 'inet']);
const protocol = z.enum(['tcp', 'udp', 'sctp']);
const scope = z.enum(['global', 'link', 'host']).optional();
const end = z.object({ name: link, mac });

/** Not those with a zone (`fe80::1%eth0`). */
function isAddress(value: string): boolean {
  return isIP(value) !== 0 && !value.includes('%');
}

function isPrefix(value: string): boolean {
  const [start = '', length = '', ...more] = value.split('/');
  const longest = addressBits(familyOf(start));
  return more.length === 0 && isAddress(start) && /^\d{1,3}$/.test(length) && Number(length) <= longest;
}

const nftValue = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['ipv4_addr', 'ipv6_addr']), value: address }),
  z.object({ type: z.enum(['ipv4_interval', 'ipv6_interval']), value: prefix }),
  z.object({ type: z.literal('inet_service'), value: z.int().min(0).max(65_535) }),
  z.object({ type: z.literal('inet_proto'), value: protocol }),
  z.object({ type: z.literal('ifname'), value: link }),
]);

/** By kind, so that the compiler misses none. */
const fields = {
  veth: { host: end, pod: end, mtu: count },
  ifb: { name: link, mtu: count },
  vxlan: { name: link, mac, id: count, port: count, local: address, underlay: link.optional(), mtu: count },
  'link-up': { in: side, link },
  'link-ready': { in: side, link },
  'link-local-mode': { in: side, link, mode: z.enum(['automatic', 'manual']) },
  address: { in: side, link, address: prefix, scope },
  route: {
    in: side,
    type: z.enum(['unicast', 'blackhole', 'local']).optional(),
    destination: prefix,
    link: link.optional(),
    gateway: address.optional(),
    scope,
    onlink: z.boolean().optional(),
    metric: count.optional(),
    table: count.optional(),
    mtu: count.optional(),
  },
  rule: { in: side, from: prefix, table: count, priority: count },
  neighbour: { in: side, link, address, mac },
  'forwarding-entry': { in: side, link, mac, remote: address },
  sysctl: {
    in: side,
    key: text,
    value: text,
    optional: z.boolean().optional(),
    initial: z.boolean().optional(),
  },
  'token-bucket': { in: side, link, rate: count, burst: count, limit: count },
  'ingress-redirect': { in: side, link, target: link },
  'nft-table': { family, name: text, body: z.string() },
  'forward-accept': { family: z.enum(['ip', 'ip6']), chain: text, links: z.array(text) },
  'nft-element': {
    family,
    table: text,
    set: text,
    key: z.array(nftValue).min(1),
    value: z.array(nftValue).optional(),
  },
  'conntrack-reset': {
    protocol,
    address: address.optional(),
    family: z.union([z.literal(4), z.literal(6)]),
    port: z.int().min(0).max(65_535).optional(),
  },
} as const satisfies Record<Resource['kind'], z.ZodRawShape>;

const resource = z.discriminatedUnion(
  'kind',
  Object.entries(fields).map(([kind, shape]) => z.object({ kind: z.literal(kind), ...shape })) as never,
);

const record = z.object({
  version: z.literal(1),
  id: z.object({ containerId: text, ifName: text, network: text }),
  pod: z.object({
    namespace: z.string().optional(),
    name: z.string().optional(),
    uid: z.string().optional(),
  }),
  namespace: z.object({ path: z.string(), device: count, inode: count }),
  leases: z.array(z.object({ address, pool: z.string() })),
  endpoint: z.object({}),
  resources: z.array(resource),
  answer: z.object({}),
  createdAt: z.number(),
});

/** What keeps a document from being a record, in words; `undefined` when it is one. */
export function recordProblem(content: unknown): string | undefined {
  const { success, error } = record.safeParse(content);
  if (success) return undefined;
  const version = (content as { version?: unknown } | null)?.version;
  if (version !== undefined && version !== 1) return `a record of version ${JSON.stringify(version)}`;
  const [first, ...others] = error.issues;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return `not an endpoint record: ${first!.path.join('.') || 'the document'}: ${first!.message}${more}`;
}
