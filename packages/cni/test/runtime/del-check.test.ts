import fs from 'node:fs/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { FakeAnswer, FakeCall, FakePlugin } from '../../src/fake.js';
import type { CacheFiles, RuntimeOptions } from '../../src/index.js';
import { createTestRuntime, network, pod } from '../support/bench.js';

const cleanups: (() => void)[] = [];
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()));

const result = { cniVersion: '1.1.0', ips: [{ address: '10.0.0.2/24' }], vendor: 1 };
const one: FakePlugin = ({ command }) => (command === 'ADD' ? { result } : {});

function setUp(plugins: Record<string, FakePlugin> = {}, options: Partial<RuntimeOptions> = {}) {
  const dropped: string[] = [];
  const observer = {
    cacheDropped: (file: string) => void dropped.push(file.slice(file.lastIndexOf('/') + 1)),
  };
  const test = createTestRuntime(
    { one, two: () => {}, three: () => {}, ...plugins },
    { observer, ...options },
  );
  cleanups.push(() => test.cache.remove());
  const configs = (command: string) =>
    test.exec.calls.filter((call) => call.command === command).map((call) => call.config);
  return { ...test, dropped, configs };
}
const fails = ({ command }: FakeCall): FakeAnswer =>
  command === 'ADD' ? {} : { error: { code: 11, msg: 'busy' } };

describe('DEL', () => {
  test('runs in reverse with the final result, and forgets the attachment', async () => {
    const { runtime, trail, cache, configs } = setUp();
    await runtime.add(network(), pod);
    expect(await runtime.del(network(), pod)).toEqual({ configuration: 'cached' });
    expect(trail().slice(3)).toEqual(['DEL three', 'DEL two', 'DEL one']);
    for (const config of configs('DEL')) expect(config['prevResult']).toEqual(result);
    expect(cache.names()).toEqual([]);
  });

  test('below 0.4.0 there is no result', async () => {
    const { runtime, configs } = setUp();
    await runtime.add(network({ cniVersion: '0.3.1' }), pod);
    await runtime.del(network({ cniVersion: '0.3.1' }), pod);
    for (const config of configs('DEL')) expect(config).not.toHaveProperty('prevResult');
  });

  test('the first failure stops it, the cache is kept, and it can be repeated', async () => {
    let busy = true;
    const { runtime, trail, cache } = setUp({ two: (call) => (busy ? fails(call) : {}) });
    await runtime.add(network(), pod);
    await expect(runtime.del(network(), pod)).rejects.toMatchObject({
      code: 11,
      message: 'plugin two failed to DEL: busy',
    });
    expect(trail().slice(3)).toEqual(['DEL three', 'DEL two']);
    expect(cache.names()).toEqual(['net-pod-eth0']);
    busy = false;
    await runtime.del(network(), pod);
    expect(cache.names()).toEqual([]);
  });

  test('uses configuration and arguments of the ADD, whatever the file says now', async () => {
    const { runtime, trail, exec } = setUp();
    const then = network({
      plugins: [{ type: 'one', capabilities: { bandwidth: true, portMappings: true } }],
    });
    const capabilityArgs = { bandwidth: { ingressRate: 1 }, portMappings: [1] };
    await runtime.add(then, { ...pod, args: [['A', 'b']], capabilityArgs });
    const now = network({ plugins: [{ type: 'two' }] });
    await runtime.del(now, {
      containerId: 'pod',
      interfaceName: 'eth0',
      capabilityArgs: { portMappings: [2] },
    });
    expect(trail()).toEqual(['ADD one', 'DEL one']);
    expect(exec.calls[1]?.env).toMatchObject({ CNI_NETNS: '/run/netns/pod', CNI_ARGS: 'A=b' });
    expect(exec.calls[1]?.config['runtimeConfig']).toEqual({
      bandwidth: { ingressRate: 1 },
      portMappings: [2],
    });
  });

  test('an empty namespace is meant: it is gone', async () => {
    const { runtime, exec } = setUp();
    await runtime.add(network(), pod);
    await runtime.del(network(), { ...pod, netns: '' });
    expect(exec.calls[3]?.env['CNI_NETNS']).toBe('');
  });

  test('the given configuration can be asked for', async () => {
    const { runtime, trail } = setUp();
    await runtime.add(network(), pod);
    const now = network({ plugins: [{ type: 'two' }] });
    expect(await runtime.del(now, pod, { configuration: 'given' })).toEqual({ configuration: 'given' });
    expect(trail().slice(3)).toEqual(['DEL two']);
  });

  test('by name alone: from the cache, and nothing when nothing is cached', async () => {
    const { runtime, trail, cache } = setUp();
    await runtime.add(network(), pod);
    expect(await runtime.del('net', pod)).toEqual({ configuration: 'cached' });
    expect(trail().slice(3)).toEqual(['DEL three', 'DEL two', 'DEL one']);
    expect(cache.names()).toEqual([]);
    expect(await runtime.del('net', pod)).toEqual({ configuration: 'none' });
    expect(trail()).toHaveLength(6);
  });

  test('without a cache the given configuration runs, without a result', async () => {
    const { runtime, configs } = setUp();
    expect(await runtime.del(network(), pod)).toEqual({ configuration: 'given' });
    expect(configs('DEL')).toHaveLength(3);
    expect(configs('DEL')[0]).not.toHaveProperty('prevResult');
  });

  test('converts the result when the version of the configuration is another', async () => {
    const { runtime, configs } = setUp();
    await runtime.add(network(), pod);
    await runtime.del(network({ cniVersion: '0.4.0' }), pod, { configuration: 'given' });
    expect(configs('DEL')[0]?.['prevResult']).toEqual({
      cniVersion: '0.4.0',
      ips: [{ version: '4', address: '10.0.0.2/24' }],
      dns: {},
    });
  });

  test.each(['', '{"kind":"cniCacheV1"', '{"kind":"cniCacheV1"}', '[]', '\0\0\0\0'])(
    'a cache file of %j is removed and reported, and DEL goes on',
    async (content) => {
      const { runtime, cache, dropped, configs } = setUp();
      cache.write('net-pod-eth0', content);
      expect(await runtime.del(network(), pod)).toEqual({ configuration: 'given' });
      expect(configs('DEL')).toHaveLength(3);
      expect(dropped).toEqual(['net-pod-eth0']);
      expect(cache.names()).toEqual([]);
    },
  );

  test('a file that cannot be read now is no proof that nothing is cached', async () => {
    let unreadable = false;
    const readFile = ((file: string) =>
      unreadable
        ? Promise.reject(Object.assign(new Error('too many open files'), { code: 'EMFILE' }))
        : fs.readFile(file)) as CacheFiles['readFile'];
    const { runtime, cache, trail } = setUp({}, { files: { ...fs, readFile } });
    await runtime.add(network(), pod);
    unreadable = true;
    const failure = { code: 5, message: expect.stringContaining('net-pod-eth0: too many open') as string };
    await expect(runtime.del('net', pod)).rejects.toMatchObject(failure);
    await expect(runtime.attachments('pod')).rejects.toMatchObject(failure);
    unreadable = false;
    expect(cache.names()).toEqual(['net-pod-eth0']);
    expect(await runtime.del('net', pod)).toEqual({ configuration: 'cached' });
    expect(trail().slice(3)).toEqual(['DEL three', 'DEL two', 'DEL one']);
  });

  test('a cached result that cannot be read is left out', async () => {
    const { runtime, cache, configs } = setUp();
    await runtime.add(network(), pod);
    cache.write('net-pod-eth0', JSON.stringify({ ...cache.read('net-pod-eth0'), result: { ips: 3 } }));
    expect(await runtime.del(network(), pod)).toEqual({ configuration: 'cached' });
    expect(configs('DEL')[0]).not.toHaveProperty('prevResult');
    expect(cache.names()).toEqual([]);
  });

  test('a bare result of an old library is the previous result', async () => {
    const { runtime, cache, configs } = setUp();
    cache.write(
      'net-pod-eth0',
      JSON.stringify({ cniVersion: '0.4.0', ips: [{ version: '4', address: '10.0.0.9/24' }] }),
    );
    expect(await runtime.del(network({ cniVersion: '1.0.0' }), pod)).toEqual({ configuration: 'given' });
    expect(configs('DEL')[0]?.['prevResult']).toEqual({
      cniVersion: '1.0.0',
      ips: [{ address: '10.0.0.9/24' }],
    });
    expect(cache.names()).toEqual([]);
  });

  test('a cached configuration that cannot be run gives way to the given one', async () => {
    const { runtime, cache } = setUp();
    await runtime.add(network(), pod);
    const config = Buffer.from('{"name":"net","cniVersion":"9.0.0","plugins":[{"type":"x"}]}').toString(
      'base64',
    );
    cache.write('net-pod-eth0', JSON.stringify({ ...cache.read('net-pod-eth0'), config }));
    expect(await runtime.del(network(), pod)).toEqual({ configuration: 'given' });
  });

  test('a file that shares its name but belongs to another attachment is left alone', async () => {
    const { runtime, cache } = setUp();
    // Network "a" with container "b-c" and network "a-b" with container "c" share a file name.
    await runtime.add(network({ name: 'a' }), { ...pod, containerId: 'b-c' });
    await runtime.del(network({ name: 'a-b' }), { ...pod, containerId: 'c' });
    expect(cache.names()).toEqual(['a-b-c-eth0']);
  });
});

describe('CHECK', () => {
  test('runs forward with the final result and the arguments of the ADD', async () => {
    const { runtime, trail, exec, configs } = setUp();
    await runtime.add(network(), { ...pod, args: [['A', 'b']] });
    await runtime.check('net', { containerId: 'pod', interfaceName: 'eth0' });
    expect(trail().slice(3)).toEqual(['CHECK one', 'CHECK two', 'CHECK three']);
    for (const config of configs('CHECK')) expect(config['prevResult']).toEqual(result);
    expect(exec.calls[3]?.env).toMatchObject({ CNI_NETNS: '/run/netns/pod', CNI_ARGS: 'A=b' });
  });

  test('stops at the first failure', async () => {
    const { runtime, trail } = setUp({ two: fails });
    await runtime.add(network(), pod);
    await expect(runtime.check(network(), pod)).rejects.toMatchObject({ plugin: 'two', command: 'CHECK' });
    expect(trail().slice(3)).toEqual(['CHECK one', 'CHECK two']);
  });

  test.each([{ disableCheck: true }, { disableCheck: 'true' }])('%j: nothing runs', async (changes) => {
    const { runtime, trail } = setUp();
    await runtime.add(network(changes), pod);
    await runtime.check('net', pod);
    await runtime.check(network(changes), pod);
    expect(trail()).toHaveLength(3);
  });

  test('disableCheck counts also when it was set after the ADD', async () => {
    const { runtime, trail } = setUp();
    await runtime.add(network(), pod);
    await runtime.check(network({ disableCheck: true }), pod);
    expect(trail()).toHaveLength(3);
  });

  test('does not exist below 0.4.0', async () => {
    const { runtime } = setUp();
    await runtime.add(network({ cniVersion: '0.3.1' }), pod);
    await expect(runtime.check(network({ cniVersion: '0.3.1' }), pod)).rejects.toMatchObject({ code: 1 });
  });

  test('of what was never added, or is not known any more, is refused with code 3', async () => {
    const { runtime, trail } = setUp();
    await expect(runtime.check(network(), pod)).rejects.toMatchObject({ code: 3 });
    await expect(runtime.check('net', pod)).rejects.toMatchObject({ code: 3 });
    expect(trail()).toEqual([]);
  });
});
