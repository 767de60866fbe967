import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AnyResult,
  CniError,
  type CniVersion,
  convertResult,
  parseResult,
  supportedVersions,
} from '../../src/index.js';
import { classOf, hasAddress, resultOf } from './arbitrary.js';

const pairs = supportedVersions.flatMap((from) => supportedVersions.map((to) => [from, to] as const));

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}

/** Converts, or gives undefined where the specification's old versions cannot express the result. */
function attempt(result: AnyResult, to: CniVersion): AnyResult | undefined {
  const expressible = classOf(to) > 0 || classOf(result.cniVersion) === 0 || hasAddress(result);
  if (expressible) return convertResult(freeze(result), to);
  expect(() => convertResult(result, to)).toThrow(CniError);
  return undefined;
}

describe.each(pairs)('%s to %s', (from, to) => {
  test('gives a valid result of that version, the same when converted again', () => {
    fc.assert(
      fc.property(resultOf(from), (result) => {
        const converted = attempt(result, to);
        if (converted === undefined) return;
        expect(converted.cniVersion).toBe(to);
        expect(parseResult(JSON.parse(JSON.stringify(converted)), '0.1.0')).toEqual(converted);
        expect(convertResult(converted, to)).toEqual(converted);
      }),
      { numRuns: 60 },
    );
  });

  test('by way of any version that can carry both is the same as directly', () => {
    const between = supportedVersions.filter((v) => classOf(v) >= Math.min(classOf(from), classOf(to)));
    fc.assert(
      fc.property(resultOf(from), fc.constantFrom(...between), (result, middle) => {
        const direct = attempt(result, to);
        // Without an address there is no way back from the richer versions.
        fc.pre(direct !== undefined && (hasAddress(result) || classOf(to) > 0 || classOf(middle) === 0));
        expect(convertResult(convertResult(result, middle), to)).toEqual(direct);
      }),
      { numRuns: 60 },
    );
  });
});

test.each(supportedVersions)('%s survives the way to every richer version and back', (version) => {
  fc.assert(
    fc.property(resultOf(version), fc.constantFrom(...supportedVersions), (result, other) => {
      fc.pre(classOf(other) >= classOf(version) && (classOf(version) > 0 || hasAddress(result)));
      const plain = convertResult(result, version);
      expect(convertResult(convertResult(result, other), version)).toEqual(plain);
      // Nothing but empty lists and an empty dns may be added or lost on the way.
      for (const [key, value] of Object.entries(result)) {
        const said = Array.isArray(value) ? value.length > 0 : typeof value !== 'object';
        if (said) expect(plain).toHaveProperty(key, value);
      }
    }),
    { numRuns: 100 },
  );
});

const interfaces = [
  { name: 'cni0', mac: '0a:00:00:00:00:01' },
  { name: 'eth0', sandbox: '/run/netns/a' },
] as const;
const dns = { nameservers: ['10.96.0.10'], domain: 'cluster.local' };

describe('a full 1.1.0 result', () => {
  const full: AnyResult = {
    cniVersion: '1.1.0',
    interfaces: [interfaces[0], { ...interfaces[1], mtu: 1450, socketPath: '/s', pciID: '0000:04:00.5' }],
    ips: [
      { address: 'fd00::2/64', gateway: 'fd00::1', interface: 1 },
      { address: '10.1.0.2/24', gateway: '10.1.0.1', interface: 1 },
      { address: '10.1.0.3/24', interface: 1 },
    ],
    routes: [
      { dst: '0.0.0.0/0', gw: '10.1.0.1', mtu: 1400, advmss: 1360, priority: 5, table: 100, scope: 0 },
      { dst: '::/0' },
    ],
    dns,
  };
  const legacy = {
    ip4: { ip: '10.1.0.2/24', gateway: '10.1.0.1', routes: [{ dst: '0.0.0.0/0', gw: '10.1.0.1' }] },
    ip6: { ip: 'fd00::2/64', gateway: 'fd00::1', routes: [{ dst: '::/0' }] },
    dns,
  };
  const lists = {
    interfaces,
    ips: [
      { version: '6', address: 'fd00::2/64', gateway: 'fd00::1', interface: 1 },
      { version: '4', address: '10.1.0.2/24', gateway: '10.1.0.1', interface: 1 },
      { version: '4', address: '10.1.0.3/24', interface: 1 },
    ],
    routes: full.routes,
    dns,
  };
  test.each([
    ['0.1.0', legacy],
    ['0.2.0', legacy],
    ['0.3.0', lists],
    ['0.3.1', lists],
    ['0.4.0', lists],
    ['1.0.0', { ...full }],
    ['1.1.0', full],
  ] as const)('as %s', (version, expected) => {
    expect(convertResult(full, version)).toEqual({ ...expected, cniVersion: version });
  });
});

describe('a 0.2.0 result', () => {
  const old: AnyResult = {
    cniVersion: '0.2.0',
    ip4: { ip: '10.1.0.2/24', gateway: '10.1.0.1', routes: [{ dst: '0.0.0.0/0' }] },
    ip6: { ip: 'fd00::2/64' },
  };
  const ips = [
    { version: '4', address: '10.1.0.2/24', gateway: '10.1.0.1' },
    { version: '6', address: 'fd00::2/64' },
  ];
  test('goes up without an invented gateway, with an empty dns written below 1.0.0', () => {
    expect(convertResult(old, '0.4.0')).toEqual({
      cniVersion: '0.4.0',
      ips,
      routes: [{ dst: '0.0.0.0/0' }],
      dns: {},
    });
  });
  test('goes up to 1.x without address versions and without an empty dns', () => {
    expect(convertResult(old, '1.0.0')).toEqual({
      cniVersion: '1.0.0',
      ips: [{ address: '10.1.0.2/24', gateway: '10.1.0.1' }, { address: 'fd00::2/64' }],
      routes: [{ dst: '0.0.0.0/0' }],
    });
  });
});

test('routes of a family without an address have no place in 0.2.0', () => {
  const result: AnyResult = {
    cniVersion: '1.0.0',
    ips: [{ address: '10.0.0.2/24' }],
    routes: [{ dst: '::/0' }],
  };
  expect(convertResult(result, '0.2.0')).toEqual({
    cniVersion: '0.2.0',
    ip4: { ip: '10.0.0.2/24' },
    dns: {},
  });
});

test('a result without addresses cannot become 0.2.0, and says so', () => {
  expect(() => convertResult({ cniVersion: '1.0.0' }, '0.2.0')).toThrow(
    expect.objectContaining({ code: 6, message: expect.stringContaining('0.2.0') as string }),
  );
});

test('an empty result of an old plugin can still be relabelled', () => {
  expect(convertResult({ cniVersion: '0.2.0' }, '0.1.0')).toEqual({ cniVersion: '0.1.0', dns: {} });
});

test.each(supportedVersions)('from %s to the current version when none is named', (version) => {
  fc.assert(
    fc.property(resultOf(version), (result) => {
      expect(convertResult(result)).toEqual(convertResult(result, '1.1.0'));
    }),
    { numRuns: 20 },
  );
});
