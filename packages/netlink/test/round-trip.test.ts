import { formatAddress, formatPrefix, prefixOf } from '@podwire/addresses';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addAddressRequest,
  type AddressFlag,
  addFilterRequest,
  addForwardingEntryRequest,
  addNeighbourRequest,
  addQdiscRequest,
  addRouteRequest,
  addRuleRequest,
  createLinkRequest,
  decodeAddress,
  decodeFilter,
  decodeForwardingEntry,
  decodeLink,
  decodeNeighbour,
  decodeQdisc,
  decodeRoute,
  decodeRule,
  type NetlinkMessage,
  type NetlinkRequest,
  sameTokenBucket,
  type Scope,
} from '@podwire/netlink';

const u32 = fc.integer({ min: 0, max: 0xffffffff });
const index = fc.integer({ min: 1, max: 0x7fffffff });
const mac = fc.uint8Array({ minLength: 6, maxLength: 6 }).map((bytes) =>
  Buffer.from(bytes)
    .toString('hex')
    .replace(/..(?=.)/g, '$&:'),
);
const address = (family: 4 | 6) =>
  fc
    .bigInt({ min: 0n, max: family === 4 ? 2n ** 32n - 1n : 2n ** 128n - 1n })
    .map((value) => ({ family, value }));
const text = (family: 4 | 6) => address(family).map(formatAddress);
const prefix = (family: 4 | 6) =>
  fc
    .tuple(address(family), fc.integer({ min: 0, max: family === 4 ? 32 : 128 }))
    .map(([value, length]) => formatPrefix(prefixOf(value, length)));
const family = fc.constantFrom<4 | 6>(4, 6);
const name = fc.stringMatching(/^[a-z][a-z0-9.-]{0,14}$/);

/** Members that are there or not, but never `undefined`. */
const some = <T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(model, { requiredKeys: [] });

function roundTrip<T>(
  arbitrary: fc.Arbitrary<T>,
  encode: (value: T) => NetlinkRequest,
  decode: (message: NetlinkMessage) => unknown,
): void {
  fc.assert(
    fc.property(arbitrary, (value) => {
      expect(decode(encode(value))).toMatchObject(value as object);
    }),
    { numRuns: 500 },
  );
}

test('links', () => {
  const common = some({
    name,
    mac,
    mtu: u32,
    group: u32,
    transmitQueueLength: u32,
    parent: index,
    master: index,
  });
  roundTrip(common, (link) => createLinkRequest({ kind: 'ifb', ...link }), decodeLink);
});

test('settings of links', () => {
  const vxlan = family.chain((version) =>
    fc
      .tuple(
        fc.record({ kind: fc.constant('vxlan' as const), id: fc.integer({ min: 0, max: 0xffffff }) }),
        some({
          port: fc.nat(65535),
          local: text(version),
          remote: text(version),
          learning: fc.boolean(),
          underlay: index,
          ttl: fc.nat(255),
          checksum: fc.boolean(),
        }),
      )
      .map(([required, optional]) => ({ ...required, ...optional })),
  );
  const macvlan = fc.record({
    kind: fc.constant('macvlan' as const),
    mode: fc.constantFrom('private', 'vepa', 'bridge', 'passthru', 'source'),
  });
  const bridge = some({
    stp: fc.boolean(),
    vlanFiltering: fc.boolean(),
    ageingTime: fc.nat(10_000),
    forwardDelay: fc.nat(100),
    multicastSnooping: fc.boolean(),
  }).map((settings) => ({ kind: 'bridge' as const, ...settings }));
  roundTrip(fc.oneof(vxlan, macvlan, bridge), createLinkRequest, (reply) => decodeLink(reply).settings);
});

test('addresses', () => {
  const flags = fc.subarray<AddressFlag>([
    'noDad',
    'home',
    'manageTemporary',
    'noPrefixRoute',
    'stablePrivacy',
  ]);
  const entry = family.chain((version) =>
    fc
      .tuple(
        fc.record({
          link: index,
          address: fc
            .tuple(text(version), fc.integer({ min: 0, max: version === 4 ? 32 : 128 }))
            .map(([value, length]) => `${value}/${length}`),
          scope: fc.constantFrom<Scope>('global', 'site', 'link', 'host', 17),
        }),
        some({ flags, label: name, metric: u32 }),
      )
      .map(([required, optional]) => ({ ...required, ...optional })),
  );
  roundTrip(entry, addAddressRequest, decodeAddress);
});

test('routes', () => {
  const types = ['unicast', 'local', 'broadcast', 'blackhole', 'unreachable', 'prohibit', 'throw'] as const;
  const hop = family.chain((version) =>
    some({ link: index, gateway: text(version), onlink: fc.constant(true) }),
  );
  const nextHops = fc.array(
    fc.tuple(hop, fc.integer({ min: 1, max: 256 })).map(([way, weight]) => ({ ...way, weight })),
    { minLength: 1, maxLength: 5 },
  );
  const route = family.chain((version) =>
    fc
      .tuple(
        fc.record({
          destination: prefix(version),
          type: fc.constantFrom(...types),
          scope: fc.constantFrom<Scope>('global', 'link', 'host', 99),
          protocol: fc.nat(255),
        }),
        some({
          table: fc.integer({ min: 1, max: 0xffffffff }),
          metric: u32,
          mtu: u32,
          preferredSource: text(version),
        }),
        fc.oneof(
          hop,
          nextHops.map((hops) => ({ nextHops: hops })),
        ),
      )
      .map(([required, optional, way]) => ({ ...required, ...optional, ...way })),
  );
  roundTrip(route, addRouteRequest, decodeRoute);
});

test('rules', () => {
  const rule = family.chain((version) =>
    fc
      .tuple(
        fc.record({
          family: fc.constant(version),
          priority: u32,
          table: fc.integer({ min: 1, max: 0xffffffff }),
          action: fc.constantFrom('table', 'goto', 'nop', 'blackhole', 'unreachable', 'prohibit'),
        }),
        some({
          from: prefix(version).filter((value) => !value.endsWith('/0')),
          to: prefix(version).filter((value) => !value.endsWith('/0')),
          mark: u32,
          markMask: u32,
          inputLink: name,
          outputLink: name,
          suppressPrefixLength: fc.nat(128),
          goto: u32,
          invert: fc.constant(true),
          protocol: fc.nat(255),
        }),
      )
      .map(([required, optional]) => ({ ...required, ...optional })),
  );
  roundTrip(rule, addRuleRequest, decodeRule);
});

test('neighbours', () => {
  const states = ['permanent', 'noarp', 'reachable', 'stale'] as const;
  const entry = family.chain((version) =>
    fc.record({ link: index, address: text(version), mac, state: fc.constantFrom(...states) }),
  );
  roundTrip(entry, addNeighbourRequest, decodeNeighbour);
});

test('forwarding entries', () => {
  const entry = family.chain((version) =>
    fc
      .tuple(
        fc.record({ link: index, mac, table: fc.constantFrom('self', 'master') }),
        some({ remote: text(version), port: fc.nat(65535), vni: u32, via: index, vlan: fc.nat(4095) }),
      )
      .map(([required, optional]) => ({ ...required, ...optional })),
  );
  roundTrip(entry, addForwardingEntryRequest, decodeForwardingEntry);
});

test('filters', () => {
  const key = fc.record({ value: u32, mask: u32, offset: fc.integer({ min: -64, max: 1500 }) });
  const action = fc
    .tuple(fc.constantFrom('egress', 'ingress'), index, some({ mirror: fc.constant(true) }))
    .map(([direction, target, mirror]) => ({ kind: 'mirred' as const, direction, target, ...mirror }));
  const filter = fc.record({
    link: index,
    priority: fc.integer({ min: 1, max: 65535 }),
    protocol: fc.nat(65535),
    keys: fc.array(key, { maxLength: 5 }),
    classId: u32,
    action,
  });
  fc.assert(
    fc.property(filter, (wanted) => {
      const { keys, classId, action: wantedAction, ...place } = wanted;
      expect(decodeFilter(addFilterRequest(wanted))).toMatchObject({
        ...place,
        settings: { keys, classId, actions: [wantedAction] },
      });
    }),
  );
});

test('token buckets come back as the same', () => {
  const bucket = fc
    .record({
      kind: fc.constant('tbf' as const),
      rate: fc.oneof(fc.integer({ min: 8, max: 1_000_000 }), fc.integer({ min: 8, max: 10 ** 13 })),
      burst: fc.integer({ min: 1, max: 0xffffffff }),
      limit: u32,
    })
    .filter(({ rate, burst }) => (burst * 8) / rate < 250);
  fc.assert(
    fc.property(bucket, (wanted) => {
      const { settings } = decodeQdisc(addQdiscRequest({ link: 1, ...wanted }));
      expect(settings?.kind === 'tbf' && sameTokenBucket(wanted, settings)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
