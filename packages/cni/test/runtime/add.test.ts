import fs from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import type { FakePlugin } from '../../src/fake.js';
import {
  type CacheFiles,
  CniError,
  parseNetwork,
  PluginError,
  RollbackError,
  type RuntimeOptions,
} from '../../src/index.js';
import { createTestRuntime, network, pod } from '../support/bench.js';

const cleanups: (() => void)[] = [];
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()));

function setUp(plugins: Record<string, FakePlugin>, options: Partial<RuntimeOptions> = {}) {
  const test = createTestRuntime({ one: () => {}, two: () => {}, three: () => {}, ...plugins }, options);
  cleanups.push(() => test.cache.remove());
  return test;
}

const first = { cniVersion: '1.1.0', ips: [{ address: '10.0.0.2/24' }], vendor: 'x' };
const failure: FakePlugin = ({ command }) =>
  command === 'ADD' ? { error: { code: 101, msg: 'no', details: 'd' } } : {};

describe('ADD', () => {
  test('runs the chain forward, each plugin with the result of the one before', async () => {
    const second = { ...first, routes: [{ dst: '0.0.0.0/0' }] };
    const { runtime, exec } = setUp({ one: () => ({ result: first }), two: () => ({ result: second }) });
    const result = await runtime.add(network(), pod);
    expect(exec.calls.map(({ plugin, config }) => [plugin, config['prevResult']])).toEqual([
      ['one', undefined],
      ['two', first],
      ['three', second],
    ]);
    expect(result).toEqual({ cniVersion: '1.1.0', ips: first.ips, routes: second.routes });
  });

  test('sends the variables of section 2 over the inherited environment', async () => {
    const { runtime, exec } = setUp({});
    await runtime.add(
      network(),
      {
        ...pod,
        args: [
          ['IgnoreUnknown', '1'],
          ['A', 'b'],
        ],
      },
      { env: { TRACEPARENT: '00-1-2-01', CNI_PATH: 'ignored' } },
    );
    expect(exec.calls[0]?.env).toEqual({
      PATH: '/bin',
      TRACEPARENT: '00-1-2-01',
      CNI_COMMAND: 'ADD',
      CNI_CONTAINERID: 'pod',
      CNI_NETNS: '/run/netns/pod',
      CNI_IFNAME: 'eth0',
      CNI_ARGS: 'IgnoreUnknown=1;A=b',
      CNI_PATH: '/one:/two',
    });
  });

  test('a result without a version has that of the configuration; null is an empty one', async () => {
    const { runtime } = setUp({ three: () => ({ stdout: 'null' }) });
    expect(await runtime.add(network(), pod)).toEqual({ cniVersion: '1.1.0' });
    const other = setUp({ three: () => ({ result: { ips: first.ips } }) });
    expect(await other.runtime.add(network({ cniVersion: '0.4.0' }), pod)).toEqual({
      cniVersion: '0.4.0',
      ips: [{ version: '4', address: '10.0.0.2/24' }],
    });
  });

  test('a result in another version is passed on as it is', async () => {
    const old = { cniVersion: '0.4.0', ips: [{ version: '4', address: '10.0.0.2/24' }], dns: {} };
    const { runtime, exec } = setUp({ one: () => ({ result: old }) });
    await runtime.add(network(), pod);
    expect(exec.calls[1]?.config['prevResult']).toEqual(old);
  });

  test('caches in libcni’s format', async () => {
    const { runtime, cache } = setUp({ one: () => ({ result: first }) });
    const list = network({ cniVersion: '0.3.1', own: true });
    const capabilityArgs = { bandwidth: { ingressRate: 1 } };
    await runtime.add(list, { ...pod, args: [['A', 'b']], capabilityArgs });
    expect(cache.names()).toEqual(['net-pod-eth0']);
    const content = cache.read('net-pod-eth0');
    expect(content).toEqual({
      kind: 'cniCacheV1',
      containerId: 'pod',
      config: expect.any(String) as string,
      ifName: 'eth0',
      networkName: 'net',
      netns: '/run/netns/pod',
      cniArgs: [['A', 'b']],
      capabilityArgs,
      result: first,
    });
    expect(Object.keys(content)).toEqual([
      'kind',
      'containerId',
      'config',
      'ifName',
      'networkName',
      'netns',
      'cniArgs',
      'capabilityArgs',
      'result',
    ]);
    const config = Buffer.from(content['config'] as string, 'base64').toString();
    expect(JSON.parse(config)).toEqual(JSON.parse(list.source));
    expect(parseNetwork(config)).toEqual(list);
    expect(await runtime.attachments('pod')).toEqual([
      { ...pod, network: 'net', args: [['A', 'b']], capabilityArgs, config, result: first },
    ]);
    expect(await runtime.attachments('other')).toEqual([]);
  });

  test.each([
    [{ containerId: '' }, 3],
    [{ containerId: '../x' }, 4],
    [{ interfaceName: 'a/b' }, 4],
    [{ netns: '' }, 4],
    [{ args: [['A', 'x;B=y']] as const }, 4],
    [{ containerId: 'x'.repeat(250) }, 4],
  ])('%j is refused before anything runs, with code %i', async (changes, code) => {
    const { runtime, exec } = setUp({});
    await expect(runtime.add(network(), { ...pod, ...changes })).rejects.toMatchObject({ code });
    expect(exec.calls).toEqual([]);
  });

  test('a plugin that is missing is found out before the first one runs', async () => {
    const { runtime, exec, cache } = setUp({}, { rollback: true });
    const list = network({ plugins: [{ type: 'one' }, { type: 'nowhere' }] });
    await expect(runtime.add(list, pod)).rejects.toMatchObject({
      code: 5,
      message: expect.stringContaining('nowhere') as string,
    });
    expect(exec.calls).toEqual([]);
    expect(cache.names()).toEqual([]);
  });

  test('a failure stops the chain, keeps the plugin’s words, and nothing is cached', async () => {
    const { runtime, trail, cache } = setUp({ two: failure });
    const error: unknown = await runtime.add(network(), pod).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(PluginError);
    expect(error).toMatchObject({
      code: 101,
      message: 'plugin two failed to ADD: no',
      details: 'd',
      plugin: 'two',
      command: 'ADD',
      exitCode: 1,
    });
    expect(trail()).toEqual(['ADD one', 'ADD two']);
    expect(cache.names()).toEqual([]);
  });

  test.each([
    ['', 'it printed no result'],
    ['rubbish', 'its result is unusable'],
    ['{"ips":[{}]}', 'its result is unusable: result: ips[0].address'],
    ['[]', 'its result is unusable'],
  ])('a result of %j is an error of code 6', async (stdout, message) => {
    const { runtime } = setUp({ one: () => ({ stdout, stderr: 'a hint' }) });
    await expect(runtime.add(network(), pod)).rejects.toMatchObject({
      code: 6,
      message: expect.stringContaining(message) as string,
      details: 'standard error: a hint',
    });
  });
});

describe('undoing a failed ADD', () => {
  test('DELs what was started, in reverse, with the last result and the same arguments', async () => {
    const { runtime, exec, trail, cache } = setUp(
      { one: () => ({ result: first }), two: failure },
      { rollback: true },
    );
    const capabilityArgs = { bandwidth: {} };
    const list = network({
      plugins: [{ type: 'one', capabilities: { bandwidth: true } }, { type: 'two' }, { type: 'three' }],
    });
    await expect(runtime.add(list, { ...pod, capabilityArgs })).rejects.toMatchObject({ code: 101 });
    expect(trail()).toEqual(['ADD one', 'ADD two', 'DEL two', 'DEL one']);
    expect(exec.calls[3]?.config).toMatchObject({ prevResult: first, runtimeConfig: capabilityArgs });
    expect(exec.calls[3]?.env).toMatchObject({ CNI_CONTAINERID: 'pod', CNI_NETNS: '/run/netns/pod' });
    expect(cache.names()).toEqual([]);
  });

  test('below 0.4.0 a DEL gets no result', async () => {
    const { runtime, exec } = setUp({ one: () => ({ result: {} }), two: failure }, { rollback: true });
    await expect(runtime.add(network({ cniVersion: '0.3.1' }), pod)).rejects.toThrow(PluginError);
    expect(exec.calls[3]?.config).not.toHaveProperty('prevResult');
  });

  test('stops at the first DEL that fails and tells both', async () => {
    const { runtime, trail } = setUp(
      { two: ({ command }) => ({ error: { code: command === 'ADD' ? 101 : 102, msg: command } }) },
      { rollback: true },
    );
    const error: unknown = await runtime.add(network(), pod).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(RollbackError);
    expect(error).toMatchObject({
      code: 101,
      message: 'plugin two failed to ADD: ADD; undoing it failed too: plugin two failed to DEL: DEL',
      addError: { code: 101 },
      rollbackError: { code: 102 },
    });
    expect(trail()).toEqual(['ADD one', 'ADD two', 'DEL two']);
  });

  test('happens too when the result cannot be cached', async () => {
    const files: CacheFiles = {
      ...fs.promises,
      rename: () => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })),
    };
    const { runtime, trail, cache } = setUp({}, { rollback: true, files });
    await expect(runtime.add(network(), pod)).rejects.toMatchObject({
      code: 5,
      message: expect.stringMatching(/^cannot write .*no space left/) as string,
    });
    expect(trail().slice(3)).toEqual(['DEL three', 'DEL two', 'DEL one']);
    expect(cache.names()).toEqual([]);
  });

  test('an ADD that never started anything does not touch the cache of an earlier one', async () => {
    const { runtime, cache } = setUp({}, { rollback: true });
    await runtime.add(network(), pod);
    const again = runtime.add(network({ plugins: [{ type: 'nowhere' }] }), pod);
    await expect(again).rejects.toMatchObject({ code: 5 });
    expect(cache.names()).toEqual(['net-pod-eth0']);
  });
});

describe('giving up', () => {
  const hang: FakePlugin = ({ command }) => (command === 'ADD' ? new Promise(() => {}) : {});

  test('the deadline ends the plugin; undoing has a deadline of its own', async () => {
    const { runtime, trail } = setUp({ two: hang }, { rollback: true });
    await expect(runtime.add(network(), pod, { timeoutMs: 30 })).rejects.toMatchObject({
      code: 11,
      exitSignal: 'SIGTERM',
      message: 'plugin two failed to ADD: it was ended, since the deadline of 30 ms has passed',
    });
    expect(trail()).toEqual(['ADD one', 'ADD two', 'DEL two', 'DEL one']);
  });

  test('so does the caller’s signal', async () => {
    const quit = new AbortController();
    const { runtime, trail } = setUp(
      { two: (call) => (quit.abort(new Error('pod deleted')), hang(call)) },
      { rollback: true },
    );
    await expect(runtime.add(network(), pod, { signal: quit.signal })).rejects.toMatchObject({
      code: 11,
      message: expect.stringContaining('pod deleted') as string,
    });
    expect(trail()).toEqual(['ADD one', 'ADD two', 'DEL two', 'DEL one']);
  });

  test('a signal that is aborted already runs nothing', async () => {
    const { runtime, exec } = setUp({}, { rollback: true });
    await expect(runtime.add(network(), pod, { signal: AbortSignal.abort() })).rejects.toBeInstanceOf(
      CniError,
    );
    expect(exec.calls).toEqual([]);
  });

  test('a plugin that finishes in spite of it stays; the next is not started', async () => {
    const quit = new AbortController();
    const { runtime, trail } = setUp({ one: () => quit.abort() });
    await expect(runtime.add(network(), pod, { signal: quit.signal })).rejects.toMatchObject({ code: 11 });
    expect(trail()).toEqual(['ADD one']);
  });
});
