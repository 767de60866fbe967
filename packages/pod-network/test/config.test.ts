import fs from 'node:fs';
import path from 'node:path';
import type { Exec } from '@podwire/cni';
import { explainDirectory } from '@podwire/pod-network';
import { afterEach, describe, expect, test } from 'vitest';
import type { StartWatching } from '../src/config/watch.js';
import { createTestClock } from '@podwire/platform/testing';
import { conflist, createHarness, type Harness, type HarnessOptions, makePod } from './support/harness.js';

let open: Harness[] = [];
afterEach(async () => {
  for (const harness of open) await harness.close();
  open = [];
});

function harnessOf(options: HarnessOptions = {}): Harness {
  const harness = createHarness({ ...options, plugins: { old: () => undefined, ...options.plugins } });
  open.push(harness);
  return harness;
}

/** Changes are not told, only polled for. */
const blind: StartWatching = () => ({ close: () => undefined });

describe('which file', () => {
  test('all extensions, by name, the first that can be used; every file has its status', async () => {
    const harness = harnessOf({ fake: { versions: { old: ['0.3.1', '0.4.0'] } } });
    harness.write('.hidden.txt', 'not one');
    harness.write('README', 'not one');
    fs.mkdirSync(path.join(harness.config, '00-folder.conflist'));
    harness.write('10-broken.conflist', '{"name": "x"');
    harness.write('20-empty.conf', '');
    harness.write('30-no-type.json', { cniVersion: '1.0.0', name: 'x' });
    harness.write('40-none.conflist', { cniVersion: '1.0.0', name: 'x', plugins: [] });
    harness.write('50-missing.conflist', conflist('x', ['nowhere']));
    harness.write('60-version.conflist', conflist('x', ['old']));
    harness.write('70-good.conf', { cniVersion: '1.0.0', name: 'single', type: 'bridge' });
    harness.write('80-later.conflist', conflist('later', ['bridge']));
    const network = await harness.start();
    const choice = await network.explain();
    expect(choice).toMatchObject({
      directory: harness.config,
      network: {
        name: 'single',
        plugins: ['bridge'],
        kept: false,
        file: path.join(harness.config, '70-good.conf'),
      },
      status: { ready: true },
    });
    expect(choice).not.toHaveProperty('pinned');
    const lines = choice.files.map(({ file, verdict, why }) => `${path.basename(file)} ${verdict}: ${why}`);
    expect(lines).toEqual([
      expect.stringMatching(/^10-broken\.conflist broken: network configuration/),
      expect.stringMatching(/^20-empty\.conf broken: /),
      expect.stringMatching(/^30-no-type\.json broken: .*type/),
      expect.stringMatching(/^40-none\.conflist broken: .*plugins/),
      expect.stringMatching(/^50-missing\.conflist unusable: .*plugin "nowhere" is in none of/),
      '60-version.conflist unusable: network x cannot be used: plugin old does not speak 1.0.0, only 0.3.1, 0.4.0',
      '70-good.conf chosen: the first file that can be used',
      '80-later.conflist not needed: 70-good.conf comes before it',
    ]);
  });

  test('pinned by its name, wherever it stands', async () => {
    const harness = harnessOf();
    harness.write('10.conflist', conflist('other', ['bridge']));
    harness.write('20.conflist', conflist('mine', ['nowhere']));
    harness.write('30.conflist', conflist('mine', ['bridge']));
    const network = await harness.start({ network: 'mine' });
    const choice = await network.explain();
    expect(choice).toMatchObject({ pinned: 'mine', network: { name: 'mine' } });
    expect(choice.files.map(({ verdict }) => verdict)).toEqual(['other name', 'unusable', 'chosen']);
    expect(choice.files[0]?.why).toBe('its network is called other, not mine');
    expect((await network.setUp(makePod(harness, 'c1'))).network).toBe('mine');
  });

  test.each([
    ['there is no CNI configuration in DIR', undefined, {}],
    ['no usable CNI network in DIR: 1.conf: ', undefined, { '1.conf': '{' }],
    [
      'no usable CNI network mine in DIR: 1.conf: its network is called x, not mine',
      'mine',
      { '1.conf': { cniVersion: '1.0.0', name: 'x', type: 'bridge' } },
    ],
  ])('without one, the status says why: %s', async (message, pinned, files) => {
    const harness = harnessOf();
    for (const [file, content] of Object.entries(files)) harness.write(file, content);
    const network = await harness.start(pinned === undefined ? {} : { network: pinned });
    const status = network.status();
    expect(status).toMatchObject({ ready: false, reason: 'NetworkPluginNotReady' });
    expect(status.message).toContain(message.replace('DIR', harness.config));
    await expect(network.setUp(makePod(harness, 'c1'))).rejects.toMatchObject({
      code: 'NETWORK_NOT_READY',
      message: status.message,
    });
    expect(harness.records()).toEqual([]);
  });

  test('a directory that is none', async () => {
    const harness = harnessOf();
    fs.rmdirSync(harness.config);
    fs.writeFileSync(harness.config, 'a file');
    const network = await harness.start();
    expect(network.status().message).toMatch(/ENOTDIR/);
  });

  test('ipRanges need a range: not ready until there is one', async () => {
    const harness = harnessOf();
    harness.write('1.conflist', conflist('pods', [{ type: 'bridge', capabilities: { ipRanges: true } }]));
    const network = await harness.start();
    expect(network.status().message).toBe('network pods needs ipRanges, but the node has no pod CIDR yet');
    await expect(network.setUp(makePod(harness, 'c1'))).rejects.toMatchObject({ code: 'NETWORK_NOT_READY' });
    network.setPodCidrs(['10.3.0.0/24']);
    expect(network.status()).toEqual({ ready: true, reason: '', message: '' });
    await network.setUp(makePod(harness, 'c1'));
  });
});

test('what a start would find, without one', async () => {
  const harness = harnessOf();
  harness.write('1.conflist', conflist('other', ['bridge']));
  harness.write('2.conflist', conflist('pods', [{ type: 'bridge', capabilities: { ipRanges: true } }]));
  const options = {
    configDirectory: harness.config,
    pluginPath: [],
    system: { exec: harness.exec },
  };
  expect(await explainDirectory(options)).toMatchObject({
    directory: harness.config,
    network: { name: 'other', plugins: ['bridge'], kept: false },
    files: [{ verdict: 'chosen' }, { verdict: 'not needed' }],
    status: { ready: true },
  });
  expect(await explainDirectory({ ...options, network: 'pods' })).toMatchObject({
    pinned: 'pods',
    network: { name: 'pods' },
    status: { ready: false, message: expect.stringMatching(/needs ipRanges/) as string },
  });
  const none = await explainDirectory({ ...options, configDirectory: '/nowhere' });
  expect(none).toMatchObject({ files: [], status: { ready: false } });
  expect(none).not.toHaveProperty('network');
  expect(fs.existsSync(harness.state)).toBe(false);
});

describe('keeping the last good one', () => {
  test('its file is gone, broken, or calls itself something else', async () => {
    const harness = harnessOf();
    harness.write('1.conflist', conflist('pods', ['bridge']));
    const network = await harness.start({ network: 'pods' });
    const spoil: (() => void)[] = [
      () => fs.rmSync(path.join(harness.config, '1.conflist')),
      () => harness.write('1.conflist', '{'),
      () => harness.write('1.conflist', conflist('renamed', ['bridge'])),
      () => fs.rmSync(harness.config, { recursive: true }),
    ];
    for (const [index, act] of spoil.entries()) {
      act();
      const choice = await network.explain();
      expect(choice.network).toMatchObject({ name: 'pods', kept: true });
      expect(choice.status).toMatchObject({
        ready: true,
        message: expect.stringMatching(/^network pods is kept: /) as string,
      });
      await network.setUp(makePod(harness, `c${index}`));
    }
    expect(harness.log.filter(({ message }) => message.includes('is kept')).length).toBeGreaterThan(0);
    fs.mkdirSync(harness.config);
    harness.write('2.conflist', conflist('pods', ['bridge']));
    expect((await network.explain()).network).toMatchObject({ name: 'pods', kept: false });
  });

  test('another usable one takes over', async () => {
    const harness = harnessOf();
    harness.write('1.conflist', conflist('first', ['bridge']));
    harness.write('2.conflist', conflist('second', ['bridge']));
    const network = await harness.start();
    fs.rmSync(path.join(harness.config, '1.conflist'));
    expect((await network.explain()).network).toMatchObject({ name: 'second', kept: false });
  });
});

describe('polling', () => {
  async function polled(options: HarnessOptions = {}) {
    const clock = createTestClock();
    const harness = harnessOf({ ...options, system: { clock, startWatching: blind } });
    const network = await harness.start();
    /** A poll, to its end. */
    const pass = async (ms = 5_000): Promise<void> => {
      await clock.advance(ms);
      await expect.poll(() => clock.sleepers()).toBe(1);
    };
    return { clock, harness, network, pass };
  }

  test('a file that comes is found within five seconds without any event, and so is one that is corrected', async () => {
    const { harness, network, pass } = await polled();
    harness.write('1.conflist', conflist('pods', ['nowhere']));
    await pass();
    expect(network.status().message).toContain('plugin "nowhere"');
    harness.write('1.conflist', conflist('pods', ['bridge']));
    await pass();
    expect(network.status().ready).toBe(true);
  });

  test('while nothing changes no plugin is started', async () => {
    const clock = createTestClock();
    const harness = harnessOf({ system: { clock, startWatching: blind } });
    harness.write('1.conflist', conflist('pods', ['bridge']));
    const network = await harness.start();
    const before = harness.exec.calls.length;
    for (let count = 0; count < 3; count++) {
      await clock.advance(5_000);
      await expect.poll(() => clock.sleepers()).toBe(1);
    }
    expect(harness.exec.calls).toHaveLength(before);
    expect((await network.explain()).lookedAt).toBe(clock.now());
  });

  test('a plugin that fails to say its version once', async () => {
    const clock = createTestClock();
    const harness = harnessOf({ system: { clock, startWatching: blind } });
    let failing = true;
    const exec: Exec = {
      find: (type, directories) => harness.exec.find(type, directories),
      run: (call) =>
        failing && call.env['CNI_COMMAND'] === 'VERSION'
          ? Promise.resolve({ code: 1, signal: null, stdout: '', stderr: 'too busy' })
          : harness.exec.run(call),
    };
    harness.write('1.conflist', conflist('pods', ['bridge']));
    const network = await harness.start({ system: { exec } });
    expect(network.status().message).toContain('too busy');
    failing = false;
    const poll = async (): Promise<void> => {
      await clock.advance(5_000);
      await expect.poll(() => clock.sleepers()).toBe(1);
    };
    await poll();
    expect(network.status()).toEqual({ ready: true, reason: '', message: '' });
    failing = true;
    expect((await network.explain()).network?.kept).toBe(true);
    failing = false;
    await poll();
    expect(network.status().message).toBe('');
  });

  test('the same name and time with another content', async () => {
    const clock = createTestClock();
    const harness = harnessOf({ system: { clock, startWatching: blind } });
    const file = path.join(harness.config, '1.conflist');
    harness.write('1.conflist', conflist('aaaa', ['bridge']));
    fs.utimesSync(file, 1000, 1000);
    const network = await harness.start();
    harness.write('1.conflist', conflist('bbbb', ['bridge']));
    fs.utimesSync(file, 1000, 1000);
    await clock.advance(5_000);
    await expect.poll(() => clock.sleepers()).toBe(1);
    await network.setUp(makePod(harness, 'c1'));
    expect(harness.cached()).toEqual(['bbbb-c1-eth0']);
  });
});

describe('watching', () => {
  /** Only events: no poll comes. */
  async function watching() {
    const harness = harnessOf();
    const network = await harness.start({ pollMs: 3_600_000, debounceMs: 1 });
    const name = async (): Promise<string | undefined> => {
      await network.setUp(makePod(harness, 'c')).catch(() => undefined);
      const [cached] = harness.cached();
      await network.tearDown({ namespace: 'shop', name: 'c', sandboxId: 'c' });
      return cached?.split('-')[0];
    };
    const becomes = (wanted: string) => expect.poll(name, { timeout: 10_000 }).toBe(wanted);
    return { harness, network, becomes };
  }

  test('written, moved over, replaced by a link, removed', async () => {
    const { harness, network, becomes } = await watching();
    const at = (name: string): string => path.join(harness.config, name);
    harness.write('5.conflist', conflist('one', ['bridge']));
    await becomes('one');
    // As installers do it: a name that is none, then the rename.
    harness.write('.5.tmp', conflist('two', ['bridge']));
    fs.renameSync(at('.5.tmp'), at('5.conflist'));
    await becomes('two');
    fs.writeFileSync(path.join(harness.root, 'elsewhere'), JSON.stringify(conflist('three', ['bridge'])));
    fs.symlinkSync(path.join(harness.root, 'elsewhere'), at('1.conflist'));
    await becomes('three');
    fs.rmSync(at('1.conflist'));
    await becomes('two');
    expect(network.status().ready).toBe(true);
  });

  test('the directory is removed, made again, and moved', async () => {
    const { harness, network, becomes } = await watching();
    harness.write('1.conflist', conflist('one', ['bridge']));
    await becomes('one');
    fs.rmSync(harness.config, { recursive: true });
    await expect.poll(() => network.status().message, { timeout: 10_000 }).toMatch(/^network one is kept/);
    fs.mkdirSync(harness.config);
    harness.write('1.conflist', conflist('two', ['bridge']));
    await becomes('two');
    fs.renameSync(harness.config, `${harness.config}.old`);
    fs.mkdirSync(harness.config);
    harness.write('1.conflist', conflist('three', ['bridge']));
    await becomes('three');
    harness.write('1.conflist', conflist('four', ['bridge']));
    await becomes('four');
  });

  test('a directory whose parents do not exist yet either', async () => {
    const harness = harnessOf();
    const config = path.join(harness.root, 'etc/cni/net.d');
    const network = await harness.start({ configDirectory: config, pollMs: 3_600_000, debounceMs: 1 });
    expect(network.status().ready).toBe(false);
    fs.mkdirSync(path.dirname(config), { recursive: true });
    fs.mkdirSync(config);
    fs.writeFileSync(path.join(config, '1.conflist'), JSON.stringify(conflist('one', ['bridge'])));
    await expect.poll(() => network.status().ready, { timeout: 10_000 }).toBe(true);
  });

  test('no watch can be had: polling goes on', async () => {
    const clock = createTestClock();
    const harness = harnessOf({
      system: {
        clock,
        startWatching: () => {
          throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
        },
      },
    });
    const network = await harness.start();
    harness.write('1.conflist', conflist('one', ['bridge']));
    await clock.advance(5_000);
    await expect.poll(() => network.status().ready).toBe(true);
  });
});
