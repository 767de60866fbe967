/** Remains of earlier lives of the process or the machine, and garbage. */
import fs from 'node:fs';
import path from 'node:path';
import type { FakePlugin } from '@podwire/cni/fake';
import { afterEach, describe, expect, test } from 'vitest';
import { createTestClock } from '@podwire/platform/testing';
import {
  bridge,
  conflist,
  createHarness,
  type Harness,
  type HarnessOptions,
  makePod,
  result,
} from './support/harness.js';

let open: Harness[] = [];
afterEach(async () => {
  for (const harness of open) await harness.close();
  open = [];
});

function harnessOf(options: HarnessOptions = {}, more: object = {}): Harness {
  const harness = createHarness(options);
  open.push(harness);
  harness.write('1.conflist', conflist('pods', ['bridge'], more));
  return harness;
}

const reboot = (harness: Harness): void => {
  fs.writeFileSync(path.join(harness.root, 'boot_id'), 'boot-2\n');
};

/** A process that ended while ADD ran: what it has written is there, what it would have written is not. */
function cutOff(harness: Harness, id: string): void {
  fs.rmSync(path.join(harness.state, `cache/results/pods-${id}-eth0`));
}

describe('at start', () => {
  test('after a reboot everything is taken off, with an empty namespace, whatever lies at the path now', async () => {
    const harness = harnessOf();
    const first = await harness.start();
    for (const id of ['c1', 'c2', 'c3']) await first.setUp(makePod(harness, id));
    await first.close();
    reboot(harness);
    fs.rmSync(harness.config, { recursive: true });
    const second = await harness.start();
    // Side by side, so in no order.
    const detached = harness.calls('DEL').map(({ env }) => [env['CNI_CONTAINERID'], env['CNI_NETNS']]);
    expect(detached.toSorted()).toEqual([
      ['c1', ''],
      ['c2', ''],
      ['c3', ''],
    ]);
    expect(harness.calls('DEL')[0]?.config).toMatchObject({ prevResult: result() });
    expect([harness.records(), harness.cached()]).toEqual([[], []]);
    expect(await second.addresses('c1')).toBeUndefined();
  });

  test('in the same boot what was attached stays', async () => {
    const harness = harnessOf();
    await (await harness.start()).setUp(makePod(harness, 'c1'));
    const second = await harness.start();
    expect(harness.trail()).toEqual(['ADD bridge c1']);
    expect(await second.addresses('c1')).toEqual(['10.0.0.2']);
  });

  test('a boot that cannot be told is no proof', async () => {
    const harness = harnessOf();
    await (await harness.start()).setUp(makePod(harness, 'c1'));
    await harness.start({ system: { bootIdFile: '/nowhere' } });
    expect(harness.trail()).toEqual(['ADD bridge c1']);
  });

  test('an ADD that was cut off is undone from what was written before it', async () => {
    const harness = harnessOf({}, { plugins: [{ type: 'bridge', capabilities: { portMappings: true } }] });
    const portMappings = [{ hostPort: 80, containerPort: 8080, protocol: 'tcp' as const }];
    await (await harness.start()).setUp(makePod(harness, 'c1', { portMappings }));
    cutOff(harness, 'c1');
    fs.rmSync(harness.config, { recursive: true });
    await harness.start();
    const [del] = harness.calls('DEL');
    expect(del).toMatchObject({
      env: {
        CNI_NETNS: '/run/netns/c1',
        CNI_ARGS: expect.stringContaining('K8S_POD_NAME=c1;') as string,
        CNI_IFNAME: 'eth0',
      },
      config: { name: 'pods', runtimeConfig: { portMappings } },
    });
    expect(harness.records()).toEqual([]);
    expect(harness.log).toContainEqual(
      expect.objectContaining({
        message: 'took a leftover off the network',
        why: 'its ADD was cut off',
        pod: 'shop/c1',
      }),
    );
  });

  test('what cannot be taken off is tried again every minute', async () => {
    let broken = true;
    const plugin: FakePlugin = ({ command }) =>
      command === 'ADD' ? { result: result() } : broken ? { code: 1, stderr: 'not yet' } : undefined;
    const clock = createTestClock();
    const harness = harnessOf({ plugins: { bridge: plugin }, system: { clock } });
    const first = await harness.start();
    await first.setUp(makePod(harness, 'c1'));
    await first.close();
    reboot(harness);
    await harness.start();
    expect([harness.records(), harness.calls('DEL').length]).toEqual([['c1'], 1]);
    await clock.advance(55_000);
    expect(harness.calls('DEL')).toHaveLength(1);
    await clock.advance(5_000);
    await expect.poll(() => harness.calls('DEL').length).toBe(2);
    broken = false;
    await clock.advance(65_000);
    await expect.poll(() => harness.records()).toEqual([]);
    expect(harness.calls('DEL').at(-1)?.env['CNI_NETNS']).toBe('');
  });

  test('a record that cannot be read now is no proof that there is nothing to take off', async () => {
    let broken = true;
    const plugin: FakePlugin = ({ command }) =>
      command === 'ADD' ? { result: result() } : broken ? { code: 1, stderr: 'not yet' } : undefined;
    const clock = createTestClock();
    const harness = harnessOf({ plugins: { bridge: plugin }, system: { clock } });
    await (await harness.start()).setUp(makePod(harness, 'c1'));
    cutOff(harness, 'c1');
    const network = await harness.start();
    broken = false;
    const record = path.join(harness.state, 'sandboxes/c1.json');
    // As good as a full table of descriptors or a bad disk.
    fs.renameSync(record, `${record}.away`);
    fs.mkdirSync(record);
    await expect(network.tearDown(makePod(harness, 'c1'))).rejects.toMatchObject({
      code: 'NETWORK_DETACH_FAILED',
      message: expect.stringContaining('EISDIR') as string,
    });
    await clock.advance(65_000);
    await expect
      .poll(() => harness.log)
      .toContainEqual(expect.objectContaining({ message: 'could not look for a leftover' }));
    expect(harness.calls('DEL')).toHaveLength(1);
    fs.rmdirSync(record);
    fs.renameSync(`${record}.away`, record);
    await network.tearDown(makePod(harness, 'c1'));
    expect([harness.calls('DEL').length, harness.records()]).toEqual([2, []]);
  });

  test('a cache file that cannot be read now neither cuts off its pod nor keeps others from being looked at', async () => {
    const harness = harnessOf();
    const first = await harness.start();
    for (const id of ['c1', 'c2', 'c3']) await first.setUp(makePod(harness, id));
    await first.close();
    for (const id of ['c1', 'c3']) cutOff(harness, id);
    const file = path.join(harness.state, 'cache/results/pods-c2-eth0');
    fs.renameSync(file, `${harness.root}/away`);
    fs.mkdirSync(file);
    await harness.start();
    const detached = harness.calls('DEL').map(({ env }) => env['CNI_CONTAINERID']);
    expect(detached.toSorted()).toEqual(['c1', 'c3']);
    expect(harness.records()).toEqual(['c2']);
  });

  test('a plugin that hangs does not block the start', async () => {
    const plugin: FakePlugin = ({ command }) =>
      command === 'DEL' ? new Promise(() => undefined) : { result: result() };
    const harness = harnessOf({ plugins: { bridge: plugin } });
    await (await harness.start()).setUp(makePod(harness, 'c1'));
    reboot(harness);
    const second = await harness.start({ recoveryMs: 20, timeoutMs: 1_000 });
    expect(second.status().ready).toBe(true);
    await second.setUp(makePod(harness, 'c2'));
  });

  test('records that are none are passed over', async () => {
    const harness = harnessOf();
    const folder = path.join(harness.state, 'sandboxes');
    fs.mkdirSync(folder, { recursive: true });
    for (const [name, content] of [
      ['a.json', ''],
      ['b.json', '{"version":1}'],
      ['c.json', 'null'],
      ['.1.tmp', '{'],
      ['d.txt', ''],
      ['e.json', JSON.stringify({ version: 1, sandboxId: '../../x' })],
    ] as const)
      fs.writeFileSync(path.join(folder, name), content);
    fs.mkdirSync(path.join(folder, 'f.json'));
    const network = await harness.start();
    expect(harness.trail()).toEqual([]);
    await network.setUp(makePod(harness, 'a'));
  });
});

describe('garbage', () => {
  test('the dead of every network, then GC of the plugins with the living', async () => {
    const harness = harnessOf({}, { cniVersion: '1.1.0' });
    const network = await harness.start();
    for (const id of ['old1', 'live']) await network.setUp(makePod(harness, id));
    harness.write('0.conflist', conflist('next', ['bridge'], { cniVersion: '1.1.0' }));
    await network.explain();
    await network.setUp(makePod(harness, 'old2'));
    await network.collectGarbage(['live', 'unheard-of']);
    expect(harness.trail().slice(3)).toEqual(['DEL bridge old1', 'DEL bridge old2', 'GC bridge']);
    expect(harness.calls('GC')[0]?.config).toMatchObject({
      name: 'next',
      'cni.dev/valid-attachments': [
        { containerID: 'live', ifname: 'eth0' },
        { containerID: 'unheard-of', ifname: 'eth0' },
      ],
    });
    expect(harness.records()).toEqual(['live']);
  });

  test('one failure does not stop the others, and all are told', async () => {
    const plugin: FakePlugin = (call) =>
      call.command === 'DEL' && call.env['CNI_CONTAINERID'] !== 'c2'
        ? { error: { code: 11, msg: `${call.env['CNI_CONTAINERID']} is busy` } }
        : (bridge as (c: typeof call) => object)(call);
    const harness = harnessOf({ plugins: { bridge: plugin } });
    const network = await harness.start();
    for (const id of ['c1', 'c2', 'c3']) await network.setUp(makePod(harness, id));
    await expect(network.collectGarbage([])).rejects.toMatchObject({
      code: 'NETWORK_DETACH_FAILED',
      message: expect.stringMatching(/c1 is busy.*c3 is busy/s) as string,
    });
    expect(harness.records()).toEqual(['c1', 'c3']);
  });

  test('what is attached without a record is found in the cache', async () => {
    const harness = harnessOf();
    const network = await harness.start();
    await network.setUp(makePod(harness, 'c1'));
    fs.rmSync(path.join(harness.state, 'sandboxes/c1.json'));
    await network.collectGarbage([]);
    expect(harness.trail()).toEqual(['ADD bridge c1', 'DEL bridge c1']);
    expect(harness.cached()).toEqual([]);
  });

  test('disableGC is heard', async () => {
    const harness = harnessOf({}, { cniVersion: '1.1.0', disableGC: true });
    const network = await harness.start();
    await network.collectGarbage([]);
    expect(harness.trail()).toEqual([]);
  });
});
