import { describe, expect, test } from 'vitest';
import { type AnyResult, CniError, type Plugin, type PluginIo, runPlugin } from '../../src/index.js';

const env = {
  CNI_COMMAND: 'ADD',
  CNI_CONTAINERID: 'pod',
  CNI_NETNS: '/run/netns/pod',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/bin',
};
const result: AnyResult = { cniVersion: '1.1.0', ips: [{ address: '10.0.0.2/24' }] };

/** Runs a plugin; what it printed, how it ended and what its handlers saw. */
async function run(
  changes: Record<string, string | undefined>,
  config: object = { cniVersion: '1.1.0', name: 'net', type: 't' },
  plugin: Partial<Plugin> = {},
  io: Partial<PluginIo> = {},
) {
  const seen: unknown[] = [];
  const out = { stdout: '', stderr: '', codes: [] as number[] };
  const record = (request: object) => void seen.push(request);
  await runPlugin(
    {
      about: 'CNI plugin t v1',
      add: (request) => (record(request), result),
      del: record,
      check: record,
      gc: record,
      status: record,
      ...plugin,
    },
    {
      env: { ...env, ...changes },
      stdin: Buffer.from(JSON.stringify(config)),
      stdout: { write: (text) => (out.stdout += text) },
      stderr: { write: (text) => (out.stderr += text) },
      exit: (code) => out.codes.push(code),
      ...io,
    },
  );
  const answer = (out.stdout === '' ? undefined : JSON.parse(out.stdout)) as
    Record<string, unknown> | undefined;
  return { ...out, answer, seen };
}

test('without CNI_COMMAND it says what it is on standard error', async () => {
  expect(await run({ CNI_COMMAND: undefined }, {}, { versions: ['0.4.0', '1.0.0'] })).toMatchObject({
    stdout: '',
    stderr: 'CNI plugin t v1\nCNI protocol versions supported: 0.4.0, 1.0.0\n',
    codes: [0],
    seen: [],
  });
});

test('VERSION answers with its newest version, and reads nothing', async () => {
  const stdin = () => Promise.reject(new Error('must not be read'));
  const { answer, codes } = await run(
    { CNI_COMMAND: 'VERSION' },
    {},
    { versions: ['1.0.0', '0.4.0'] },
    { stdin },
  );
  expect(answer).toEqual({ cniVersion: '1.0.0', supportedVersions: ['1.0.0', '0.4.0'] });
  expect(codes).toEqual([0]);
});

test.each([
  ['1.1.0', { cniVersion: '1.1.0', ips: [{ address: '10.0.0.2/24' }] }],
  ['0.4.0', { cniVersion: '0.4.0', ips: [{ version: '4', address: '10.0.0.2/24' }], dns: {} }],
  ['0.2.0', { cniVersion: '0.2.0', ip4: { ip: '10.0.0.2/24' }, dns: {} }],
])('ADD prints the result in version %s of the configuration', async (cniVersion, expected) => {
  const { answer, codes } = await run({}, { cniVersion, name: 'net' });
  expect(answer).toEqual(expected);
  expect(codes).toEqual([0]);
});

test.each(['DEL', 'CHECK', 'GC', 'STATUS'])('%s prints nothing', async (command) => {
  const { stdout, codes, seen } = await run({ CNI_COMMAND: command });
  expect(stdout).toBe('');
  expect(codes).toEqual([0]);
  expect(seen).toMatchObject([{ command, config: { name: 'net' } }]);
});

test.each(['check', 'gc', 'status'] as const)('a plugin without %s succeeds', async (handler) => {
  // `undefined` stands for a plugin that has no such method.
  const none = { [handler]: undefined } as unknown as Partial<Plugin>;
  expect(await run({ CNI_COMMAND: handler.toUpperCase() }, undefined, none)).toMatchObject({
    codes: [0],
    stdout: '',
  });
});

describe('errors are printed as section 5 asks, with exit status 1', () => {
  test.each([
    [{ CNI_NETNS: '', CNI_IFNAME: undefined }, {}, 4, 'CNI_NETNS, CNI_IFNAME', '1.1.0'],
    [{}, [], 6, 'must be an object', '1.1.0'],
    [{}, { cniVersion: '0.4.0' }, 7, 'name', '0.4.0'],
    [{}, { cniVersion: '7.0.0', name: 'net' }, 1, 'incompatible', '1.1.0'],
    [{ CNI_COMMAND: 'CHECK' }, { cniVersion: '0.3.1', name: 'net' }, 1, 'CHECK', '0.3.1'],
    [{ CNI_COMMAND: 'NEW' }, {}, 4, 'unknown CNI_COMMAND: NEW', '1.1.0'],
  ])('%j with %j: code %i', async (changes, config, code, msg, cniVersion) => {
    const { answer, codes, seen } = await run(changes, config);
    expect(answer).toMatchObject({ code, cniVersion, msg: expect.stringContaining(msg) as string });
    expect(codes).toEqual([1]);
    expect(seen).toEqual([]);
  });

  test('a CniError as it is, anything else as code 999', async () => {
    const refuse = () => Promise.reject(new CniError(100, 'no', { details: 'because' }));
    const config = { cniVersion: '0.4.0', name: 'net' };
    expect((await run({}, config, { add: refuse })).answer).toEqual({
      cniVersion: '0.4.0',
      code: 100,
      msg: 'no',
      details: 'because',
    });
    const crash = () => {
      throw new TypeError('x is not a function');
    };
    expect((await run({}, config, { add: crash })).answer).toEqual({
      cniVersion: '0.4.0',
      code: 999,
      msg: 'x is not a function',
    });
  });

  test('STATUS refuses with 50', async () => {
    const status = () => {
      throw new CniError(50, 'daemon down');
    };
    expect((await run({ CNI_COMMAND: 'STATUS' }, undefined, { status })).answer).toMatchObject({ code: 50 });
  });

  test('input that cannot be read is code 5', async () => {
    const { answer } = await run({}, {}, {}, { stdin: () => Promise.reject(new Error('EIO')) });
    expect(answer).toMatchObject({ code: 5, msg: 'cannot read standard input: EIO' });
  });

  test('a result that the version cannot express is an error', async () => {
    const { answer } = await run(
      {},
      { cniVersion: '0.2.0', name: 'net' },
      { add: () => ({ cniVersion: '1.1.0' }) },
    );
    expect(answer).toMatchObject({ code: 6, cniVersion: '0.2.0' });
  });
});

describe('the plugin’s own namespace', () => {
  const isOwnNamespace = (path: string) => path === '/run/netns/pod';
  test.each(['ADD', 'DEL', 'CHECK'])('%s refuses it with code 8 before anything is done', async (command) => {
    const { answer, seen } = await run({ CNI_COMMAND: command }, undefined, {}, { isOwnNamespace });
    expect(answer).toMatchObject({ code: 8 });
    expect(seen).toEqual([]);
  });
  test('CNI_NETNS_OVERRIDE allows it', async () => {
    const { codes } = await run({ CNI_NETNS_OVERRIDE: 'true' }, undefined, {}, { isOwnNamespace });
    expect(codes).toEqual([0]);
  });
  test('a DEL without namespace has nothing to compare', async () => {
    const { codes } = await run(
      { CNI_COMMAND: 'DEL', CNI_NETNS: '' },
      undefined,
      {},
      { isOwnNamespace: () => true },
    );
    expect(codes).toEqual([0]);
  });
});
