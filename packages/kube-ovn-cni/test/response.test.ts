import type { AnyResult, Result } from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CniResponse,
  errorResponse,
  pluginVersions,
  readCniResponse,
  renderCniResponse,
  toCniResponse,
  toCniResult,
} from '../src/index.js';
import { answer4, answerDual, errorBody, printed4, printedDual, printedDual020 } from './recorded.js';
import { response4, responseDual } from './support.js';

const print = (result: AnyResult): string => JSON.stringify(result, null, 4);
const read = (text: string): CniResponse => readCniResponse(Buffer.from(text));

describe('a response', () => {
  test('is written byte for byte as the original does', () => {
    expect(renderCniResponse(response4)).toBe(answer4);
    expect(renderCniResponse(responseDual)).toBe(answerDual);
    const text = 'provider x<&>é not bind to any subnet';
    const escaped = 'provider x\\u003c\\u0026\\u003eé not bind to any subnet';
    expect(renderCniResponse(errorResponse(text))).toBe(errorBody(escaped));
  });

  test('is read as it was written', () => {
    for (const response of [response4, responseDual, { ...response4, mtu: 1400 }, errorResponse('<no>')])
      expect(read(renderCniResponse(response))).toEqual(response);
    expect(read('{}')).toEqual(errorResponse(''));
  });

  test.each([
    ['', 'is empty'],
    ['[]', 'the response is no object'],
    ['{"protocol":"IPX"}', 'protocol is none of IPv4, IPv6 and Dual'],
    ['{"address":["10.0.0.1"]}', 'address is no string'],
    ['{"mtu":-1}', 'mtu is no number of bytes'],
    ['{"mtu":"1400"}', 'mtu is no number of bytes'],
  ])('is refused when it is %s', (text, reason) => {
    expect(() => read(text)).toThrow(PodwireError);
    expect(() => read(text)).toThrow(reason);
  });
});

describe('the result of the plugin', () => {
  test('is printed byte for byte as the original does, under each of its versions', () => {
    expect(print(toCniResult(response4, '0.3.1'))).toBe(printed4);
    expect(print(toCniResult(response4, '0.3.0'))).toBe(printed4.replace('0.3.1', '0.3.0'));
    expect(print(toCniResult(responseDual, '0.4.0'))).toBe(printedDual);
    expect(print(toCniResult(responseDual, '0.2.0'))).toBe(printedDual020);
    expect(print(toCniResult(responseDual, '0.1.0'))).toBe(printedDual020);
  });

  test('has no route without a gateway, and no MAC where only addresses were asked for', () => {
    const addresses = { ...response4, gateway: '', macAddress: '', podNicName: '' };
    expect(toCniResult(addresses, '0.3.1')).toEqual({
      ...{ cniVersion: '0.3.1', interfaces: [{ name: '' }], dns: {} },
      ips: [{ version: '4', address: '100.100.0.3/16' }],
    });
    const result = toCniResult({ ...responseDual, gateway: ',fd00:10:16::1' }, '0.4.0');
    expect(result).toMatchObject({ routes: [{ dst: '::/0', gw: 'fd00:10:16::1' }] });
  });

  const wrong: readonly (readonly [field: string, changes: Partial<CniResponse>])[] = [
    ['protocol', { protocol: '' }],
    ['address', { ipAddress: '' }],
    ['address', { ipAddress: 'fd00::1' }],
    ['address', { ipAddress: '10.0.0.1,10.0.0.2' }],
    ['cidr', { cidr: '10.0.0.0' }],
    ['cidr', { cidr: 'fd00::/64' }],
    ['cidr', { cidr: '10.0.0.0/33' }],
    ['gateway', { gateway: 'x' }],
    ['gateway', { gateway: 'fd00::1' }],
    ['address', { protocol: 'Dual' }],
  ];
  test.each(wrong)('is not made of a response with a wrong %s: %j', (field, changes) => {
    expect(() => toCniResult({ ...response4, ...changes }, '0.3.1')).toThrow(
      `the response of the node has a wrong ${field}: `,
    );
  });
});

const result: Result = {
  cniVersion: '1.1.0',
  interfaces: [
    { name: 'vethabc', mac: '02:00:00:00:00:01', mtu: 1400 },
    { name: 'eth0', mac: '00:00:00:B8:58:AB', mtu: 1400, sandbox: '/proc/10112/ns/net' },
  ],
  ips: [
    { interface: 1, address: 'fd00:10:16::9/112', gateway: 'fd00:10:16::1' },
    { interface: 1, address: '10.16.0.9/16', gateway: '10.16.0.1' },
  ],
  routes: [{ dst: '0.0.0.0/0', gw: '10.16.0.1' }],
};

describe('a CNI result', () => {
  test('becomes a response with the interface in the pod, IPv4 first', () => {
    expect(toCniResponse(result)).toEqual({ ...responseDual, mtu: 1400 });
  });

  test('may have one family, no gateway and no interface', () => {
    const ips = [{ address: '100.100.0.3/16', gateway: '100.100.0.1' }];
    const none = { podNicName: '', macAddress: '' };
    expect(toCniResponse({ cniVersion: '1.1.0', ips })).toEqual({ ...response4, ...none });
    const six = toCniResponse({ cniVersion: '1.1.0', ips: [{ address: 'fd00::1/64' }] });
    expect(six).toMatchObject({ protocol: 'IPv6', cidr: 'fd00::/64', gateway: '' });
  });

  test('is refused without an address, and with two of a family', () => {
    for (const ips of [[], [{ address: '10.0.0.1/8' }, { address: '10.0.0.2/8' }]])
      expect(() => toCniResponse({ cniVersion: '1.1.0', ips })).toThrow('one address of each family');
  });

  const addresses4 = fc.tuple(fc.ipV4(), fc.nat(32), fc.option(fc.ipV4(), { nil: undefined }));
  const addresses6 = fc.tuple(fc.ipV6(), fc.nat(128), fc.option(fc.ipV6(), { nil: undefined }));
  const toIp = ([ip, length, gateway]: readonly [string, number, string | undefined]) => ({
    address: `${ip}/${length}`,
    ...(gateway === undefined ? {} : { gateway }),
  });

  test('keeps addresses, lengths and gateways on its way through a response', () => {
    const ips = fc
      .tuple(fc.option(addresses4), fc.option(addresses6))
      .map((pair) => pair.filter((each) => each !== null).map(toIp))
      .filter((list) => list.length > 0);
    const property = fc.property(ips, fc.constantFrom(...pluginVersions), (list, version) => {
      const response = toCniResponse({ cniVersion: '1.1.0', ips: list });
      const again = toCniResponse(toCniResult(response, version));
      expect(again).toEqual(response);
      expect(read(renderCniResponse(response))).toEqual(response);
    });
    fc.assert(property);
  });
});
