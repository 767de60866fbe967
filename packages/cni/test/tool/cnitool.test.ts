import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFakeExec, type FakePlugin } from '../../src/fake.js';
import { cniToolContainerId, runCniTool } from '../../src/index.js';
import { type CacheDirectory, createCacheDirectory } from '../support/cache-directory.js';

let place: CacheDirectory;
beforeEach(() => {
  place = createCacheDirectory();
  configure({ cniVersion: '1.1.0', name: 'net', plugins: [{ type: 'one', capabilities: { ips: true } }] });
});
afterEach(() => place.remove());

const configFile = () => path.join(place.directory, 'net.conflist');
const configure = (network: object) => fs.writeFileSync(configFile(), JSON.stringify(network));
const result = { cniVersion: '1.1.0', ips: [{ address: '10.0.0.2/24' }] };
const works: FakePlugin = ({ command }) => (command === 'ADD' ? { result } : {});

async function tool(argv: string[], env: Record<string, string> = {}, one: FakePlugin = works) {
  const exec = createFakeExec({ one });
  const out = { stdout: '', stderr: '' };
  const code = await runCniTool([...argv, '--cache-dir', place.directory], {
    env: { NETCONFPATH: place.directory, CNI_PATH: '/a:/b', ...env },
    stdout: { write: (text) => (out.stdout += text) },
    stderr: { write: (text) => (out.stderr += text) },
    exec,
  });
  return { code, ...out, calls: exec.calls };
}

test('the container id is that of upstream’s cnitool', () => {
  // printf /run/netns/testing | sha512sum
  expect(cniToolContainerId('/run/netns/testing')).toBe('cnitool-43057b9dcc39fe733071');
});

describe('add', () => {
  test('prints the result and hands environment and arguments on', async () => {
    const env = { CNI_ARGS: 'A=b;C=d', CAP_ARGS: '{"ips":["10.0.0.2"],"mac":"x"}' };
    const { code, stdout, calls } = await tool(['add', 'net', '/run/netns/testing'], env);
    expect(code).toBe(0);
    expect(stdout).toBe(`${JSON.stringify(result, undefined, 4)}\n`);
    expect(calls[0]?.env).toMatchObject({
      CNI_COMMAND: 'ADD',
      CNI_CONTAINERID: cniToolContainerId('/run/netns/testing'),
      CNI_NETNS: '/run/netns/testing',
      CNI_IFNAME: 'eth0',
      CNI_ARGS: 'A=b;C=d',
      CNI_PATH: '/a:/b',
    });
    expect(calls[0]?.config['runtimeConfig']).toEqual({ ips: ['10.0.0.2'] });
  });
  test.each([
    [['-i', 'net1'], {}, 'net1'],
    [[], { CNI_IFNAME: 'net2' }, 'net2'],
    [['--ifname', 'net1'], { CNI_IFNAME: 'net2' }, 'net1'],
  ])('interface by %j and %j', async (options, env, expected) => {
    const { calls } = await tool(['add', 'net', '/x', ...options], env);
    expect(calls[0]?.env['CNI_IFNAME']).toBe(expected);
  });
  test('a relative namespace is taken from the current directory', async () => {
    const { calls } = await tool(['add', 'net', 'ns']);
    expect(calls[0]?.env['CNI_NETNS']).toBe(path.resolve('ns'));
  });
  test('a failure is undone; it is text on standard error', async () => {
    const { code, stdout, stderr, calls } = await tool(['add', 'net', '/x'], {}, ({ command }) =>
      command === 'ADD' ? { error: { code: 11, msg: 'busy', details: 'one\ntwo' } } : {},
    );
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toBe('cnitool: plugin one failed to ADD: busy (code 11)\n    one\n    two\n');
    expect(calls.map(({ command }) => command)).toEqual(['ADD', 'DEL']);
  });
  test('or JSON on standard output', async () => {
    const { code, stdout, stderr } = await tool(['add', 'net', '/x', '-o', 'json'], {}, ({ command }) =>
      command === 'ADD' ? { error: { code: 11, msg: 'busy' }, stderr: 'log\n' } : {},
    );
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      code: 11,
      msg: 'plugin one failed to ADD: busy',
      details: 'standard error: log',
    });
    expect(stderr).toBe('log\n');
  });
});

describe('the other commands', () => {
  test('check and del after add', async () => {
    await tool(['add', 'net', '/x']);
    const check = await tool(['check', 'net', '/x']);
    expect(check).toMatchObject({
      code: 0,
      stdout: '',
      calls: [{ command: 'CHECK', config: { prevResult: result } }],
    });
    const del = await tool(['del', 'net', '/x', '-o', 'json']);
    expect(del).toMatchObject({ code: 0, calls: [{ command: 'DEL' }] });
    expect(JSON.parse(del.stdout)).toEqual({ command: 'del', network: 'net', ok: true });
    expect(place.names()).toEqual([]);
  });
  test('del works when the configuration is gone', async () => {
    await tool(['add', 'net', '/x']);
    fs.rmSync(configFile());
    expect(await tool(['del', 'net', '/x'])).toMatchObject({ code: 0, calls: [{ command: 'DEL' }] });
    expect(await tool(['del', 'net', '/x'])).toMatchObject({ code: 1, calls: [] });
  });
  test('gc removes all attachments and sends no list', async () => {
    await tool(['add', 'net', '/x']);
    const { calls } = await tool(['gc', 'net', '/x']);
    expect(calls.map(({ command }) => command)).toEqual(['DEL', 'GC']);
    expect(calls[1]?.config).not.toHaveProperty(['cni.dev/valid-attachments']);
  });
  test('status, with and without a namespace', async () => {
    expect(await tool(['status', 'net', '/x'])).toMatchObject({ code: 0, calls: [{ command: 'STATUS' }] });
    const down: FakePlugin = () => ({ error: { code: 50, msg: 'daemon down' } });
    const { code, stdout } = await tool(['status', 'net', '-o', 'json'], {}, down);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({ code: 50, msg: 'daemon down' });
  });
  test('--verbose tells what ran', async () => {
    expect((await tool(['add', 'net', '/x', '-v'])).stderr).toMatch(/^ADD one: [\d.]+ ms\n$/);
  });
  test('--timeout ends a plugin that hangs', async () => {
    const { code, stderr } = await tool(
      ['status', 'net', '--timeout', '0.02'],
      {},
      () => new Promise(() => {}),
    );
    expect(code).toBe(1);
    expect(stderr).toContain('the deadline of 20 ms has passed');
  });
});

describe('wrong calls', () => {
  test.each([
    [[], 'which command?'],
    [['replace', 'net', '/x'], 'no such command: replace'],
    [['add'], 'add needs the name of a network'],
    [['add', 'net'], 'add needs a namespace'],
    [['add', 'net', '/x', 'y'], 'too many arguments: y'],
    [['add', 'net', '/x', '-o', 'yaml'], '--output must be text or json'],
    [['add', 'net', '/x', '--timeout', 'soon'], '--timeout must be'],
    [['add', 'net', '/x', '--nonsense'], '--nonsense'],
  ])('%j: exit status 2', async (argv, message) => {
    const { code, stderr, stdout } = await tool(argv);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain('Try "cnitool --help".');
    expect(stdout).toBe('');
  });
  test.each([
    [{ CNI_ARGS: 'x' }, 'no KEY=VALUE pair'],
    [{ CAP_ARGS: '[]' }, 'CAP_ARGS: must be an object'],
    [{ CAP_ARGS: '{' }, 'CAP_ARGS is no JSON'],
    [{ NETCONFPATH: '/nowhere' }, 'no network configurations in /nowhere'],
    [{ CNI_IFNAME: 'a/b' }, 'interface name'],
  ])('%j: exit status 1', async (env, message) => {
    const { code, stderr } = await tool(['add', 'net', '/x'], env);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });
  test.each([['--help'], ['add', '-h']])('%s prints the help', async (...argv) => {
    const { code, stdout } = await tool(argv);
    expect(code).toBe(0);
    for (const word of ['add', 'check', 'del', 'gc', 'status', 'NETCONFPATH', 'CAP_ARGS'])
      expect(stdout).toContain(word);
  });
});
