/** Random flows and groups of which every one is valid, in canonical form: as a dump returns them. */
import fc from 'fast-check';
import {
  type Action,
  type Bucket,
  type FieldName,
  fieldOf,
  type Flow,
  formatFieldValue,
  type Group,
  type KnownFields,
  type Match,
  type Nat,
} from '@podwire/openflow';

const bigs = (bits: number): fc.Arbitrary<bigint> => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n });

/** A value of a field, or with `masks` a value under a mask; never a mask of nothing. */
export function fieldValues(name: FieldName, masks = true): fc.Arbitrary<number | string> {
  const { bits, valid, maskable, format } = fieldOf(name);
  // One mask of fragments has no text that ovs-ofctl reads.
  if (format === 'fragment') return fc.constantFrom('no', 'yes', 'first', 'later', 'not_later');
  const exact = bigs(bits).map((value) => formatFieldValue(name, { value: value & valid, mask: valid }));
  if (!masks || !maskable) return exact;
  // ovs-ofctl reads an IPv6 mask whose first group has decimal digits alone as the length of a prefix.
  const always = format === 'ipv6' ? 0xffffn << 112n : 0n;
  const masked = fc
    .tuple(bigs(bits), bigs(bits))
    .map(([value, mask]) => ({ value, mask: (mask | always) & valid }))
    .filter(({ mask }) => mask !== 0n)
    .map(({ value, mask }) => formatFieldValue(name, { value: value & mask, mask }));
  return fc.oneof(exact, masked);
}

type Sample = readonly [fixed: Match, free: readonly FieldName[]];

/** Kinds of packets: what selects each, and the fields that it has. */
const kinds: readonly Sample[] = [
  [{}, ['eth_type']],
  [{ eth_type: 0x0806 }, ['arp_op', 'arp_spa', 'arp_tpa', 'arp_sha', 'arp_tha']],
  [{ eth_type: 0x0800 }, ['ip_src', 'ip_dst', 'ip_dscp', 'ip_ecn', 'ip_ttl', 'ip_proto']],
  [{ eth_type: 0x86dd }, ['ipv6_src', 'ipv6_dst', 'ipv6_label', 'ip_frag']],
  [{ eth_type: 0x0800, ip_proto: 6 }, ['ip_src', 'tcp_src', 'tcp_dst', 'tcp_flags']],
  [{ eth_type: 0x86dd, ip_proto: 17 }, ['ipv6_dst', 'udp_src', 'udp_dst']],
  [{ eth_type: 0x0800, ip_proto: 132 }, ['sctp_src', 'sctp_dst']],
  [{ eth_type: 0x0800, ip_proto: 1 }, ['icmp_type', 'icmp_code']],
  [{ eth_type: 0x86dd, ip_proto: 58, icmpv6_type: 135 }, ['nd_target', 'nd_sll']],
  [{ eth_type: 0x86dd, ip_proto: 58, icmpv6_type: 136 }, ['nd_target', 'nd_tll']],
];

const always: readonly FieldName[] = [
  ...(['metadata', 'tun_id', 'tun_src', 'tun_dst', 'pkt_mark', 'conj_id', 'eth_src', 'eth_dst'] as const),
  ...(['reg0', 'reg1', 'reg7', 'reg15', 'ct_state', 'ct_zone', 'ct_mark', 'ct_label'] as const),
];

const values = (names: readonly FieldName[]): fc.Arbitrary<KnownFields> =>
  fc
    .subarray([...names])
    .chain((chosen) => fc.record(Object.fromEntries(chosen.map((name) => [name, fieldValues(name)]))));

const ports = fc.integer({ min: 1, max: 0xfe00 });
const inPorts = fc.option(fc.oneof(ports, fc.constant('LOCAL' as const)), { nil: undefined });
const tags = fc.option(fc.integer({ min: 0x1000, max: 0x1fff }), { nil: undefined });

export const matches: fc.Arbitrary<Match> = fc
  .constantFrom(...kinds)
  .chain(([fixed, free]) => fc.tuple(fc.constant(fixed), values(free), values(always), inPorts, tags))
  .map(([fixed, free, common, inPort, tag]) => ({
    ...(inPort === undefined ? {} : { in_port: inPort }),
    ...common,
    ...(tag === undefined ? {} : { vlan_vid: tag }),
    ...free,
    ...fixed,
  }));

/** Class and first number: of no vendor here, those of Geneve options in NXM, and a later one of OpenFlow. */
const foreignClasses = fc.constantFrom([0x0002, 0], [0x7fff, 100], [0x0001, 40], [0x8000, 45]);
const hexOf = (bytes: readonly number[]): string => Buffer.from(bytes).toString('hex');
const payloads = (most: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ maxLength: most });

/** Fields that the table does not have, with and without a mask, of each length. */
const plainForeign = fc
  .tuple(foreignClasses, fc.nat(15), fc.boolean(), payloads(255))
  .map(([[oxmClass, first], number, hasMask, value]) => {
    const field = ((first + number) << 1) | Number(hasMask);
    return hexOf([oxmClass >> 8, oxmClass & 0xff, field, value.length, ...value]);
  });
/** Those of an experimenter, as NSH is: the number is that of Open vSwitch or another one. */
const experimenterForeign = fc
  .tuple(fc.constantFrom('005ad650', '00002320', '00000000'), fc.nat(255), payloads(251))
  .map(([vendor, field, value]) => `ffff${hexOf([field, 4 + value.length])}${vendor}${hexOf([...value])}`);

/** Fields with their headers that this library does not know. */
export const foreignFields: fc.Arbitrary<string[]> = fc.array(fc.oneof(plainForeign, experimenterForeign), {
  minLength: 1,
  maxLength: 4,
});

const registers = fc.constantFrom<FieldName[]>('reg0', 'reg1', 'reg2', 'reg15');
const parts = fc.tuple(registers, fc.integer({ min: 0, max: 15 }), fc.integer({ min: 1, max: 16 }));

const loads: fc.Arbitrary<Action> = parts.chain(([field, start, bits]) =>
  fc
    .integer({ min: 0, max: 2 ** bits - 1 })
    .map((value) => ({ type: 'load', value, to: { field, start, bits } })),
);
const moves: fc.Arbitrary<Action> = fc.tuple(parts, registers).map(([[field, start, bits], to]) => ({
  type: 'move',
  from: { field, start, bits },
  to: { field: to, start: 0, bits },
}));

const settable = fc.constantFrom<FieldName[]>(
  'eth_dst',
  'eth_src',
  'tun_id',
  'tun_dst',
  'reg3',
  'metadata',
  'pkt_mark',
);
const sets: fc.Arbitrary<Action> = settable.chain((field) =>
  fieldValues(field, false).map((value) => ({ type: 'set_field', field, value })),
);

const natRanges = (isIpv6: boolean): fc.Arbitrary<Nat> => {
  const [one, other] = isIpv6 ? ['2001:db8::1', '2001:db8::9'] : ['10.0.0.1', '10.0.0.9'];
  return fc.constantFrom<Nat[]>(
    {},
    { direction: 'src', addresses: one },
    { direction: 'src' },
    { direction: 'src', addresses: `${one}-${other}` },
    { direction: 'dst', addresses: `${one}-${other}`, ports: [80, 90] },
    { direction: 'dst', addresses: other, ports: [8080, 8080], choice: 'hash' },
    { direction: 'src', addresses: one, choice: 'random', persistent: true },
  );
};

const marks: fc.Arbitrary<Action> = fc
  .integer({ min: 0, max: 0xffffffff })
  .map((value) => ({ type: 'load', value, to: { field: 'ct_mark' } }));

const optional = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(values, { nil: undefined });
const isThere = ([, value]: [string, unknown]): boolean => value !== undefined;
const dropAbsent = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(isThere)) as T;

/** An invalid connection cannot be committed. */
const tracking = (isIpv6: boolean, isInvalid: boolean): fc.Arbitrary<Action> =>
  fc
    .record({
      commit: isInvalid ? fc.constant(false) : fc.boolean(),
      table: optional(fc.integer({ min: 1, max: 250 })),
      zone: optional(
        fc.oneof(
          fc.integer({ min: 1, max: 0xffff }),
          fc.constant({ field: 'reg0' as const, start: 0, bits: 16 }),
        ),
      ),
      nat: optional(natRanges(isIpv6)),
      exec: optional(marks),
    })
    .map(
      ({ commit, table, zone, nat, exec }) =>
        dropAbsent({
          type: 'ct' as const,
          commit: commit ? true : undefined,
          table,
          zone,
          nat: commit ? nat : undefined,
          exec: commit && exec !== undefined ? [exec] : undefined,
        }) as Action,
    );

const plainActions: fc.Arbitrary<Action> = fc.oneof(
  ports.map((port): Action => ({ type: 'output', port })),
  fc.constantFrom<Action[]>(
    { type: 'output', port: 'IN_PORT' },
    { type: 'output', port: 'NORMAL' },
    { type: 'output_field', from: { field: 'reg2' } },
    { type: 'controller' },
    { type: 'controller', maxLength: 100 },
    { type: 'controller', id: 3, reason: 'no_match' },
    { type: 'ct_clear' },
    { type: 'push_vlan', etherType: 0x8100 },
    { type: 'push', from: { field: 'reg1' } },
    { type: 'pop', to: { field: 'reg2', start: 0, bits: 16 } },
    { type: 'note', bytes: '0102030000ff' },
    { type: 'set_queue', queue: 7 },
  ),
  loads,
  moves,
  sets,
  fc.integer({ min: 1, max: 250 }).map((table): Action => ({ type: 'resubmit', table })),
  ports.map((port): Action => ({ type: 'resubmit', port, table: 3 })),
);

/** Actions that any packet can have, and those of IP. */
const actionsFor = ({ eth_type, ct_state = '' }: Match): fc.Arbitrary<Action> =>
  eth_type === 0x0800 || eth_type === 0x86dd
    ? fc.oneof(
        plainActions,
        tracking(eth_type === 0x86dd, String(ct_state).includes('+inv')),
        fc.constant<Action>({ type: 'dec_ttl' }),
      )
    : plainActions;

/** A packet has two tags at most. */
const pushOnce = (actions: readonly Action[]): readonly Action[] => {
  const first = actions.findIndex(({ type }) => type === 'push_vlan');
  return actions.filter(({ type }, index) => type !== 'push_vlan' || index === first);
};

export const flows: fc.Arbitrary<Flow> = matches
  .chain((match) =>
    fc.record({
      table: fc.integer({ min: 0, max: 100 }),
      priority: fc.integer({ min: 0, max: 0xffff }),
      match: fc.constant(match),
      cookie: optional(
        bigs(64)
          .filter((value) => value > 0n)
          .map((value) => `0x${value.toString(16)}`),
      ),
      idleTimeout: optional(fc.integer({ min: 600, max: 0xffff })),
      hardTimeout: optional(fc.integer({ min: 600, max: 0xffff })),
      importance: optional(fc.integer({ min: 1, max: 0xffff })),
      flags: optional(fc.constant(['send_flow_rem'] as const)),
      actions: optional(fc.array(actionsFor(match), { minLength: 1, maxLength: 6 }).map(pushOnce)),
      metadata: optional(fieldValues('metadata').map(String)),
      goto: optional(fc.integer({ min: 101, max: 250 })),
    }),
  )
  .map((flow) => dropAbsent(flow) as Flow);

const buckets: fc.Arbitrary<Bucket> = fc
  .array(
    fc.oneof(
      loads,
      ports.map((port): Action => ({ type: 'output', port })),
    ),
    { maxLength: 3 },
  )
  .map((actions) => ({ actions }));

export const groups: fc.Arbitrary<Group> = fc.oneof(
  fc.record({
    id: fc.integer({ min: 1, max: 1000 }),
    type: fc.constant('all' as const),
    buckets: fc.array(buckets, { maxLength: 4 }),
  }),
  fc.record({
    id: fc.integer({ min: 1, max: 1000 }),
    type: fc.constant('select' as const),
    buckets: fc.array(
      fc.tuple(buckets, fc.integer({ min: 2, max: 9 })).map(([bucket, weight]) => ({ weight, ...bucket })),
      { maxLength: 4 },
    ),
  }),
  fc.record({
    id: fc.integer({ min: 1, max: 1000 }),
    type: fc.constant('indirect' as const),
    buckets: fc.array(buckets, { minLength: 1, maxLength: 1 }),
  }),
  fc.record({
    id: fc.integer({ min: 1, max: 1000 }),
    type: fc.constant('fast_failover' as const),
    buckets: fc.array(
      fc.tuple(buckets, ports).map(([bucket, watchPort]) => ({ watchPort, ...bucket })),
      { maxLength: 4 },
    ),
  }),
);
