import { afterEach, describe, expect, test } from 'vitest';
import type { FakePlugin } from '../../src/fake.js';
import type { RuntimeOptions } from '../../src/index.js';
import { pending } from '../support/pending.js';
import { createTestRuntime, network, pod } from '../support/bench.js';

const cleanups: (() => void)[] = [];
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()));

function setUp(plugins: Record<string, FakePlugin> = {}, options: Partial<RuntimeOptions> = {}) {
  const test = createTestRuntime({ one: () => {}, two: () => {}, three: () => {}, ...plugins }, options);
  cleanups.push(() => test.cache.remove());
  return test;
}
const other = { ...pod, containerId: 'other', netns: '/run/netns/other' };

describe('GC', () => {
  test('DELs what is cached but not valid, with its own arguments, then asks every plugin', async () => {
    const { runtime, exec, trail, cache } = setUp();
    await runtime.add(network(), pod);
    await runtime.add(network(), { ...other, args: [['A', 'b']] });
    await runtime.add(network({ name: 'elsewhere' }), other);
    const before = exec.calls.length;
    await runtime.gc(network(), [pod]);
    expect(trail().slice(before)).toEqual([
      'DEL three',
      'DEL two',
      'DEL one',
      'GC one',
      'GC two',
      'GC three',
    ]);
    expect(exec.calls[before]?.env).toMatchObject({
      CNI_CONTAINERID: 'other',
      CNI_NETNS: '/run/netns/other',
      CNI_ARGS: 'A=b',
    });
    const call = exec.calls[before + 3];
    expect(call?.env).toMatchObject({
      CNI_COMMAND: 'GC',
      CNI_CONTAINERID: '',
      CNI_NETNS: '',
      CNI_PATH: '/one:/two',
    });
    const list = [{ containerID: 'pod', ifname: 'eth0' }];
    expect(call?.config).toEqual({
      type: 'one',
      name: 'net',
      cniVersion: '1.1.0',
      'cni.dev/valid-attachments': list,
      'cni.dev/attachments': list,
    });
    expect(cache.names()).toEqual(['elsewhere-other-eth0', 'net-pod-eth0']);
  });

  test('null: everything is stale and the plugins are told no list', async () => {
    const { runtime, exec, cache } = setUp();
    await runtime.add(network(), pod);
    await runtime.gc(network(), null);
    expect(cache.names()).toEqual([]);
    expect(exec.calls.at(-1)?.config).toEqual({ type: 'three', name: 'net', cniVersion: '1.1.0' });
  });

  test('below 1.1.0 only the DELs', async () => {
    const { runtime, trail } = setUp();
    await runtime.add(network({ cniVersion: '0.3.1' }), pod);
    await runtime.gc(network({ cniVersion: '0.3.1' }), []);
    expect(trail().slice(3)).toEqual(['DEL three', 'DEL two', 'DEL one']);
  });

  test('disableGC: nothing', async () => {
    const { runtime, trail, cache } = setUp();
    await runtime.add(network(), pod);
    await runtime.gc(network({ disableGC: true }), []);
    expect(trail()).toHaveLength(3);
    expect(cache.names()).toHaveLength(1);
  });

  test('goes on after failures and reports all of them', async () => {
    const { runtime, trail } = setUp({
      two: ({ command, env }) => {
        if (command === 'GC') return { error: { code: 100, msg: 'gc' } };
        return command === 'DEL' && env['CNI_CONTAINERID'] === 'other'
          ? { error: { code: 101, msg: 'del' } }
          : {};
      },
    });
    await runtime.add(network(), pod);
    await runtime.add(network(), other);
    await expect(runtime.gc(network(), [])).rejects.toMatchObject({
      code: 101,
      message: 'garbage collection of network net had 2 failures',
      details: 'plugin two failed to DEL: del\nplugin two failed to GC: gc',
      cause: { errors: [{ code: 101 }, { code: 100 }] },
    });
    expect(trail().slice(6)).toEqual([
      'DEL three',
      'DEL two',
      'DEL three',
      'DEL two',
      'DEL one',
      'GC one',
      'GC two',
      'GC three',
    ]);
  });

  test('a cache that cannot be listed is a failure, and the plugins are asked all the same', async () => {
    const { cache } = setUp();
    cache.write('file', '');
    const { runtime, trail } = setUp({}, { cacheDir: `${cache.directory}/results/file` });
    await expect(runtime.gc(network(), [])).rejects.toMatchObject({
      code: 5,
      details: expect.stringContaining('cannot list') as string,
    });
    expect(trail()).toEqual(['GC one', 'GC two', 'GC three']);
  });

  test('prunes files of the network that hold nothing, unless a valid attachment owns them', async () => {
    const { runtime, cache } = setUp();
    cache.write('net-gone-eth0', '');
    cache.write('net-pod-eth0', '{"ki');
    cache.write('another-x-eth0', '');
    cache.write('net-bare-eth0', '{"ips":[]}');
    cache.write('.1.2.tmp', '{');
    await runtime.gc(network(), [pod]);
    expect(cache.names()).toEqual(['.1.2.tmp', 'another-x-eth0', 'net-bare-eth0', 'net-pod-eth0']);
  });

  test('runs alone: waits for ADDs under way and holds back the next', async () => {
    const release = pending();
    const { runtime, trail } = setUp({
      one: async ({ command, env }) => {
        if (command === 'ADD' && env['CNI_CONTAINERID'] === 'pod') await release.promise;
      },
    });
    const all = [
      runtime.add(network({ plugins: [{ type: 'one' }] }), pod),
      runtime.gc(network({ plugins: [{ type: 'two' }] }), [pod, other]),
      runtime.add(network({ plugins: [{ type: 'three' }] }), other),
    ];
    await new Promise((resolve) => setImmediate(resolve));
    expect(trail()).toEqual(['ADD one']);
    release.resolve();
    await Promise.all(all);
    expect(trail()).toEqual(['ADD one', 'GC two', 'ADD three']);
  });
});

describe('one container at a time', () => {
  test('a DEL waits for the ADD of its container and not for those of others', async () => {
    const release = pending();
    const { runtime, trail } = setUp({
      one: async ({ command, env }) => {
        if (command === 'ADD' && env['CNI_CONTAINERID'] === 'pod') await release.promise;
      },
    });
    const list = network({ plugins: [{ type: 'one' }] });
    const [adding, deleting] = [runtime.add(list, pod), runtime.del(list, pod)];
    await runtime.add(list, other);
    expect(trail()).toEqual(['ADD one', 'ADD one']);
    release.resolve();
    await Promise.all([adding, deleting]);
    expect(trail()).toEqual(['ADD one', 'ADD one', 'DEL one']);
  });
});

describe('STATUS', () => {
  test('asks every plugin in order', async () => {
    const { runtime, trail, exec } = setUp();
    await runtime.status(network({ plugins: [{ type: 'one', capabilities: { x: true } }, { type: 'two' }] }));
    expect(trail()).toEqual(['STATUS one', 'STATUS two']);
    expect(exec.calls[0]?.config).toEqual({ type: 'one', name: 'net', cniVersion: '1.1.0' });
  });
  test.each([50, 51])('hands the first error of code %i on as the plugin said it', async (code) => {
    const { runtime, trail } = setUp({ two: () => ({ error: { code, msg: 'daemon down', details: 'd' } }) });
    await expect(runtime.status(network())).rejects.toMatchObject({
      code,
      message: 'daemon down',
      details: 'd',
    });
    expect(trail()).toEqual(['STATUS one', 'STATUS two']);
  });
  test('below 1.1.0 nothing runs', async () => {
    const { runtime, trail } = setUp();
    await runtime.status(network({ cniVersion: '1.0.0' }));
    expect(trail()).toEqual([]);
  });
});

describe('VERSION and validate', () => {
  test('asks with dummies for old plugins', async () => {
    const { runtime, exec } = setUp();
    expect(await runtime.version('one')).toContain('1.1.0');
    expect(exec.calls[0]?.config).toEqual({ cniVersion: '1.1.0' });
    expect(exec.calls[0]?.env).toMatchObject({
      CNI_COMMAND: 'VERSION',
      CNI_NETNS: 'dummy',
      CNI_IFNAME: 'dummy',
      CNI_PATH: 'dummy',
    });
  });
  test('every plugin must be there and speak the version', async () => {
    const versions = { two: ['0.3.1', '0.4.0'] };
    const { runtime, cache } = createTestRuntime({ one: () => {}, two: () => {} }, {}, { versions });
    cleanups.push(() => cache.remove());
    const list = network({
      cniVersion: '0.4.0',
      plugins: [
        { type: 'one', capabilities: { ips: true, mac: false } },
        { type: 'two', capabilities: { dns: true } },
      ],
    });
    expect(await runtime.validate(list)).toEqual(['ips', 'dns']);
    await expect(runtime.validate(network())).rejects.toMatchObject({
      code: 7,
      message:
        'network net cannot be used: plugin two does not speak 1.1.0, only 0.3.1, 0.4.0; plugin "three" is in none of: /one, /two',
    });
  });
});

describe('observer', () => {
  test('sees every call with its end; what it throws changes nothing', async () => {
    const events: unknown[] = [];
    let clock = 0;
    const { runtime } = setUp(
      {
        two: ({ command }) => ({
          stderr: 'hello',
          ...(command === 'DEL' && { error: { code: 7, msg: 'no' } }),
        }),
      },
      {
        now: () => (clock += 5),
        observer: {
          pluginStarted: ({ command, plugin, index }) => events.push([command, plugin, index]),
          pluginFinished: (call) => {
            events.push(call);
            throw new Error('ignored');
          },
        },
      },
    );
    const list = network({ plugins: [{ type: 'two' }] });
    await runtime.add(list, pod);
    await expect(runtime.del(list, pod)).rejects.toMatchObject({ code: 7 });
    const call = {
      plugin: 'two',
      file: '/fake/two',
      index: 0,
      network: 'net',
      containerId: 'pod',
      interfaceName: 'eth0',
      rollback: false,
      durationMs: 5,
      exitSignal: null,
      stderr: 'hello',
    };
    expect(events).toEqual([
      ['ADD', 'two', 0],
      { ...call, command: 'ADD', exitCode: 0 },
      ['DEL', 'two', 0],
      { ...call, command: 'DEL', exitCode: 1, error: expect.objectContaining({ code: 7 }) as Error },
    ]);
  });
});
