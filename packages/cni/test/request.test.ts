import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CniError, commands, parseRequest, type ParseOptions } from '../src/index.js';

const env = {
  CNI_COMMAND: 'ADD',
  CNI_CONTAINERID: 'abc123',
  CNI_NETNS: '/run/netns/abc',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/opt/cni/bin::/usr/lib/cni',
};
const config = { cniVersion: '1.1.0', name: 'net', type: 'podwire' };
const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const parse = (
  changes: Record<string, string | undefined> = {},
  stdin: unknown = config,
  options?: ParseOptions,
) => parseRequest({ ...env, ...changes }, bytes(stdin), options);

function refusal(work: () => unknown): CniError {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(CniError);
    return error as CniError;
  }
  throw new Error('was not refused');
}

describe('a good request', () => {
  test('ADD', () => {
    const stdin = { ...config, ipam: { type: 'host-local' }, capabilities: { ips: true }, other: [1] };
    expect(parse({ CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAME=web' }, stdin)).toEqual({
      command: 'ADD',
      containerId: 'abc123',
      interfaceName: 'eth0',
      netns: '/run/netns/abc',
      path: ['/opt/cni/bin', '/usr/lib/cni'],
      args: [
        ['IgnoreUnknown', '1'],
        ['K8S_POD_NAME', 'web'],
      ],
      netnsOverride: false,
      config: stdin,
      stdin: bytes(stdin),
    });
  });
  test('pairs instead of an object, the last of equal names counts', () => {
    const pairs = [['CNI_IFNAME', 'x'], ...Object.entries(env)] as [string, string][];
    expect(parseRequest(pairs, bytes(config))).toEqual(parse());
    expect(parseRequest(new Map(pairs), bytes(config))).toEqual(parse());
  });
  test('DEL needs no namespace', () => {
    expect(parse({ CNI_COMMAND: 'DEL', CNI_NETNS: '' })).toMatchObject({ command: 'DEL', netns: '' });
  });
  test.each(['1', 'true', 'TRUE'])('CNI_NETNS_OVERRIDE=%s', (flag) => {
    expect(parse({ CNI_NETNS_OVERRIDE: flag })).toMatchObject({ netnsOverride: true });
  });
  test('prevResult is read in its own version, or else in that of the configuration', () => {
    const ips = [{ address: '10.0.0.2/24', interface: 0 }];
    expect(parse({}, { ...config, prevResult: { ips } })).toMatchObject({
      prevResult: { cniVersion: '1.1.0', ips },
    });
    const old = { cniVersion: '0.2.0', ip4: { ip: '10.0.0.2/24' } };
    expect(parse({}, { ...config, prevResult: old })).toMatchObject({ prevResult: old });
  });
  test('a prevResult that cannot be read does not stop a DEL', () => {
    const request = parse({ CNI_COMMAND: 'DEL' }, { ...config, prevResult: { ips: 3 } });
    expect(request).toMatchObject({ command: 'DEL' });
    expect(request).not.toHaveProperty('prevResult');
  });
  test.each(['cni.dev/valid-attachments', 'cni.dev/attachments'])('GC with %s', (key) => {
    const stdin = { ...config, [key]: [{ containerID: 'a', ifname: 'eth0' }] };
    expect(parse({ CNI_COMMAND: 'GC' }, stdin)).toMatchObject({
      command: 'GC',
      validAttachments: [{ containerId: 'a', interfaceName: 'eth0' }],
    });
  });
  test('GC without a list, and with an empty one, are told apart', () => {
    expect(parse({ CNI_COMMAND: 'GC' })).not.toHaveProperty('validAttachments');
    const none = { ...config, 'cni.dev/valid-attachments': [] };
    expect(parse({ CNI_COMMAND: 'GC' }, none)).toMatchObject({ validAttachments: [] });
  });
  test('STATUS needs CNI_PATH only', () => {
    expect(parseRequest({ CNI_COMMAND: 'STATUS', CNI_PATH: '/x' }, bytes(config))).toMatchObject({
      command: 'STATUS',
      path: ['/x'],
    });
  });
  test('VERSION needs nothing and reads nothing', () => {
    expect(parseRequest({ CNI_COMMAND: 'VERSION' }, bytes('rubbish'))).toEqual({ command: 'VERSION' });
  });
  test('without cniVersion it is 0.1.0', () => {
    expect(parse({}, { name: 'net' })).toMatchObject({ config: { cniVersion: '0.1.0' } });
  });
  test('null for a known key counts as absent', () => {
    const request = parse({}, { ...config, ipam: null, runtimeConfig: null, other: null });
    expect(request).toMatchObject({ config: { ...config, other: null } });
    expect(request).not.toHaveProperty('config.ipam');
  });
});

describe('the environment', () => {
  test.each(['ADD', 'CHECK'])('%s names all that is missing in one error of code 4', (command) => {
    const error = refusal(() => parseRequest({ CNI_COMMAND: command }, bytes(config)));
    expect(error.code).toBe(4);
    for (const name of ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH'])
      expect(error.message).toContain(name);
  });
  test.each([
    [{ CNI_COMMAND: undefined }, 4, 'CNI_COMMAND'],
    [{ CNI_COMMAND: 'FOO' }, 4, 'unknown CNI_COMMAND: FOO'],
    [{ CNI_COMMAND: 'add' }, 4, 'unknown CNI_COMMAND: add'],
    [{ CNI_CONTAINERID: '../x' }, 4, 'container id'],
    [{ CNI_IFNAME: 'a/b' }, 4, 'interface name'],
    [{ CNI_IFNAME: 'x'.repeat(16) }, 4, 'longer than 15'],
    [{ CNI_ARGS: 'A' }, 4, 'no KEY=VALUE pair'],
  ])('%j is refused with code %i', (changes, code, message) => {
    expect(refusal(() => parse(changes))).toMatchObject({
      code,
      message: expect.stringContaining(message) as string,
    });
  });
});

describe('the configuration', () => {
  test.each([
    ['', 6, 'is empty'],
    ['{', 6, 'is no JSON'],
    ['[]', 6, 'must be an object'],
    ['{"name":"a","name":"b"}', 6, 'twice'],
    [{ cniVersion: '1.1.0' }, 7, 'network name is missing'],
    [{ ...config, name: '../x' }, 7, 'network name'],
    [{ ...config, name: 3 }, 7, 'name: must be a string'],
    [{ ...config, type: [] }, 7, 'type: must be a string'],
    [{ ...config, ipam: 'x' }, 7, 'ipam: must be an object'],
    [{ ...config, ipam: { type: 1 } }, 7, 'ipam.type: must be a string'],
    [{ ...config, runtimeConfig: [] }, 7, 'runtimeConfig: must be an object'],
    [{ ...config, capabilities: { a: 'yes' } }, 7, 'capabilities.a: must be true or false'],
    [{ ...config, cniVersion: '9.9.9' }, 1, 'incompatible CNI versions'],
    [{ ...config, cniVersion: '1.1' }, 1, 'incompatible CNI versions'],
    [{ ...config, cniVersion: 'x' }, 7, 'no CNI version'],
    [{ ...config, cniVersion: 1 }, 6, 'cniVersion: must be a string'],
    [{ ...config, prevResult: { ips: [{}] } }, 6, 'ips[0].address'],
  ])('%j is refused with code %i', (stdin, code, message) => {
    expect(refusal(() => parse({}, stdin))).toMatchObject({
      code,
      message: expect.stringContaining(message) as string,
    });
  });
  test.each([
    ['CHECK', '0.3.1'],
    ['GC', '1.0.0'],
    ['STATUS', '1.0.0'],
  ])('%s does not exist in %s', (command, cniVersion) => {
    expect(refusal(() => parse({ CNI_COMMAND: command }, { ...config, cniVersion }))).toMatchObject({
      code: 1,
    });
  });
  test('a version that the plugin does not speak, with both lists', () => {
    const error = refusal(() => parse({}, config, { versions: ['0.3.1', '0.4.0'] }));
    expect(error).toMatchObject({
      code: 1,
      details: 'config is "1.1.0", plugin supports ["0.3.1", "0.4.0"]',
    });
  });
  test('GC attachments of a wrong shape', () => {
    const stdin = { ...config, 'cni.dev/valid-attachments': [{ containerID: 'a' }] };
    expect(refusal(() => parse({ CNI_COMMAND: 'GC' }, stdin))).toMatchObject({ code: 7 });
  });
  test('an error after the version is known carries it', () => {
    expect(refusal(() => parse({ CNI_ARGS: 'x' })).cniVersion).toBe('1.1.0');
    expect(refusal(() => parse({}, { ...config, name: '' })).cniVersion).toBe('1.1.0');
  });
  test('1 MiB is the limit', () => {
    expect(refusal(() => parse({}, { ...config, pad: 'x'.repeat(1 << 20) }))).toMatchObject({ code: 6 });
  });
});

test('whatever comes in, a request or a CniError comes out', () => {
  const values = fc.dictionary(
    fc.constantFrom(...Object.keys(env), 'CNI_ARGS', 'CNI_NETNS_OVERRIDE'),
    fc.oneof(fc.string(), fc.constantFrom(...commands, 'a=b', 'eth0')),
  );
  const stdin = fc.oneof(
    fc.jsonValue(),
    fc.record({
      cniVersion: fc.constantFrom('0.4.0', '1.1.0'),
      name: fc.constant('n'),
      prevResult: fc.jsonValue(),
    }),
  );
  fc.assert(
    fc.property(values, stdin, (changes, value) => {
      try {
        expect(commands).toContain(parse(changes, value).command);
      } catch (error) {
        expect(error).toBeInstanceOf(CniError);
        expect((error as CniError).code).not.toBe(999);
      }
    }),
    { numRuns: 1000 },
  );
});
