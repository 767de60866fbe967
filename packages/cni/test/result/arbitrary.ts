import fc from 'fast-check';
import type { AnyResult, CniVersion } from '../../src/index.js';

type Family = 4 | 6;

const octet = fc.integer({ min: 0, max: 255 });
const word = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
const ip4 = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.'));
const ip6 = fc.tuple(word, word, word, word, word, word, word, word).map((parts) => parts.join(':'));
const address = (family: Family) => (family === 4 ? ip4 : ip6);
const block = (family: Family) =>
  fc
    .tuple(address(family), fc.integer({ min: 0, max: family === 4 ? 32 : 128 }))
    .map(([ip, length]) => `${ip}/${length}`);
const name = fc.stringMatching(/^[a-z][a-z0-9.-]{0,14}$/);
const uint = fc.integer({ min: 1, max: 0xffff_ffff });

const optionalKeys = <T extends object>(
  required: (keyof T)[],
  model: { [K in keyof T]: fc.Arbitrary<T[K]> },
) => fc.record(model, { requiredKeys: required });

const dns = optionalKeys([], {
  nameservers: fc.array(fc.oneof(ip4, ip6), { maxLength: 2 }),
  domain: name,
  search: fc.array(name, { maxLength: 2 }),
  options: fc.array(name, { maxLength: 2 }),
});

const plainRoute = (family: Family) => optionalKeys(['dst'], { dst: block(family), gw: address(family) });
const anyFamily = fc.constantFrom<Family>(4, 6);

const richRoute = anyFamily.chain((family) =>
  optionalKeys(['dst'], {
    dst: block(family),
    gw: address(family),
    mtu: uint,
    advmss: uint,
    priority: uint,
    table: uint,
    scope: octet,
  }),
);

const legacyIp = (family: Family) =>
  optionalKeys(['ip'], {
    ip: block(family),
    gateway: address(family),
    routes: fc.array(plainRoute(family), { maxLength: 3 }),
  });

const plainInterface = optionalKeys(['name'], {
  name,
  mac: fc.constant('02:00:00:00:00:01'),
  sandbox: fc.constant('/run/netns/x'),
});
const richInterface = optionalKeys(['name'], {
  name,
  mac: fc.constant('02:00:00:00:00:01'),
  sandbox: fc.constant('/run/netns/x'),
  mtu: uint,
  socketPath: fc.constant('/run/x.sock'),
  pciID: fc.constant('0000:04:00.5'),
});

const ipConfig = anyFamily.chain((family) =>
  optionalKeys(['address'], {
    address: block(family),
    gateway: address(family),
    interface: fc.integer({ min: -1, max: 3 }),
  }),
);
const versionedIp = anyFamily.chain((family) =>
  optionalKeys(['address', 'version'], {
    version: fc.constant(family === 4 ? ('4' as const) : ('6' as const)),
    address: block(family),
    gateway: address(family),
    interface: fc.integer({ min: -1, max: 3 }),
  }),
);

/** 0: `ip4`/`ip6`; 1: lists; 2: lists with details. A richer class can carry what a poorer one says. */
export function classOf(version: CniVersion): 0 | 1 | 2 {
  if (version < '0.3.0') return 0;
  return version < '1.0.0' ? 1 : 2;
}

/** A random result of a version, with everything that the version can say. */
export function resultOf(version: CniVersion): fc.Arbitrary<AnyResult> {
  const lists = { routes: fc.array(richRoute, { maxLength: 4 }), dns };
  const shapes = [
    optionalKeys([], { ip4: legacyIp(4), ip6: legacyIp(6), dns }),
    optionalKeys([], {
      interfaces: fc.array(plainInterface, { maxLength: 3 }),
      ips: fc.array(versionedIp, { maxLength: 4 }),
      ...lists,
    }),
    optionalKeys([], {
      interfaces: fc.array(richInterface, { maxLength: 3 }),
      ips: fc.array(ipConfig, { maxLength: 4 }),
      ...lists,
    }),
  ] as const;
  return (shapes[classOf(version)] as fc.Arbitrary<object>).map((shape) => ({
    cniVersion: version,
    ...shape,
  }));
}

/** True when the result has an address, without which it cannot become 0.2.0. */
export function hasAddress(result: AnyResult): boolean {
  if ('ip4' in result || 'ip6' in result) return true;
  return 'ips' in result && (result.ips ?? []).length > 0;
}
