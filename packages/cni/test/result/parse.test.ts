import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CniError, parseResult, supportedVersions } from '../../src/index.js';
import { resultOf } from './arbitrary.js';

test.each(supportedVersions)('reads back what %s can say', (version) => {
  fc.assert(
    fc.property(resultOf(version), (result) => {
      expect(parseResult(JSON.parse(JSON.stringify(result)))).toEqual(result);
    }),
  );
});

test('never throws anything but a CniError', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(...supportedVersions), (value, version) => {
      try {
        parseResult(value, version);
      } catch (error) {
        expect(error).toBeInstanceOf(CniError);
      }
    }),
  );
});

describe('tolerates what is seen in the wild', () => {
  test.each([
    ['no version: 0.1.0 by the letter', {}, undefined, { cniVersion: '0.1.0' }],
    ['no version: the caller knows better', { cniVersion: '' }, '1.0.0', { cniVersion: '1.0.0' }],
    [
      'null for lists and empty texts for addresses',
      { cniVersion: '1.0.0', interfaces: null, routes: [{ dst: '0.0.0.0/0', gw: '' }], dns: null },
      undefined,
      { cniVersion: '1.0.0', routes: [{ dst: '0.0.0.0/0' }] },
    ],
    [
      'interface -1 without a list of interfaces',
      { cniVersion: '1.0.0', ips: [{ address: '10.0.0.1/8', interface: -1 }] },
      undefined,
      { cniVersion: '1.0.0', ips: [{ address: '10.0.0.1/8', interface: -1 }] },
    ],
    [
      'an address without its version',
      { cniVersion: '0.4.0', ips: [{ address: 'fd00::1/64' }] },
      undefined,
      { cniVersion: '0.4.0', ips: [{ version: '6', address: 'fd00::1/64' }] },
    ],
    [
      'keys it does not know',
      { cniVersion: '1.1.0', vendor: 1, interfaces: [{ name: 'eth0', vendor: 2 }] },
      undefined,
      { cniVersion: '1.1.0', interfaces: [{ name: 'eth0' }] },
    ],
  ] as const)('%s', (_, value, fallback, expected) => {
    expect(parseResult(value, fallback)).toEqual(expected);
  });
});

describe('names the field that is wrong', () => {
  test.each([
    [[], 'must be an object, is an array'],
    [{ cniVersion: '2.0.0' }, 'cniVersion: "2.0.0" is no released CNI version'],
    [{ cniVersion: 1 }, 'cniVersion: must be a string'],
    [{ cniVersion: '1.0.0', ips: {} }, 'ips: must be an array, is an object'],
    [
      { cniVersion: '1.0.0', ips: [{ address: '10.0.0.1' }] },
      'ips[0].address: must be an address with prefix',
    ],
    [{ cniVersion: '1.0.0', ips: [{ address: '10.0.0.1/33' }] }, 'ips[0].address'],
    [{ cniVersion: '1.0.0', ips: [{ address: '10.0.0.1/08' }] }, 'ips[0].address'],
    [{ cniVersion: '1.0.0', ips: [{ address: '010.0.0.1/8' }] }, 'ips[0].address'],
    [{ cniVersion: '1.0.0', ips: [{ address: 'fe80::1%eth0/64' }] }, 'ips[0].address'],
    [{ cniVersion: '1.0.0', ips: [{}] }, 'ips[0].address: is missing'],
    [{ cniVersion: '1.0.0', ips: [{ address: '10.0.0.1/8', interface: 0.5 }] }, 'ips[0].interface'],
    [
      { cniVersion: '0.3.1', ips: [{ address: '10.0.0.1/8', version: '5' }] },
      'ips[0].version: must be "4" or "6"',
    ],
    [{ cniVersion: '1.0.0', routes: [{ dst: '0/0' }] }, 'routes[0].dst'],
    [{ cniVersion: '1.0.0', routes: [{ dst: '0.0.0.0/0', gw: 'x' }] }, 'routes[0].gw: must be an IP address'],
    [{ cniVersion: '1.1.0', routes: [{ dst: '0.0.0.0/0', mtu: -1 }] }, 'routes[0].mtu'],
    [{ cniVersion: '1.1.0', interfaces: [{}] }, 'interfaces[0].name: is missing'],
    [{ cniVersion: '1.1.0', dns: { search: 'x' } }, 'dns.search: must be an array'],
    [{ cniVersion: '0.2.0', ip4: { ip: 'x' } }, 'ip4.ip'],
  ])('%j', (value, message) => {
    expect(() => parseResult(value)).toThrow(
      expect.objectContaining({ code: 6, message: expect.stringContaining(message) as string }),
    );
  });
});
