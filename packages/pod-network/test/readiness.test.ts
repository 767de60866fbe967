import { afterEach, expect, test } from 'vitest';
import { createTestClock } from '@podwire/platform/testing';
import { conflist, createHarness, type Harness, makePod } from './support/harness.js';

let open: Harness[] = [];
afterEach(async () => {
  for (const harness of open) await harness.close();
  open = [];
});

interface Said {
  code: number;
  msg: string;
  details?: string;
}

/** A network whose plugin answers STATUS with what is set, under a clock that is told to pass. */
function probed(cniVersion = '1.1.0') {
  const clock = createTestClock();
  const say: { error?: Said; hangs?: boolean; waits?: Promise<undefined> } = {};
  const harness = createHarness({
    plugins: {
      picky: ({ command }) => {
        if (command !== 'STATUS') return undefined;
        if (say.waits !== undefined) return say.waits;
        if (say.hangs === true) return new Promise(() => undefined);
        return say.error === undefined ? undefined : { error: say.error };
      },
    },
    system: { clock },
  });
  open.push(harness);
  harness.write('1.conflist', conflist('pods', ['picky'], { cniVersion }));
  const start = () => harness.start({ probeTimeoutMs: 50 });
  const poll = async (): Promise<void> => {
    await clock.advance(5_000);
    await expect.poll(() => clock.sleepers()).toBe(1);
  };
  return { clock, say, harness, start, poll, asked: () => harness.calls('STATUS').length };
}

test.each([
  [
    { code: 50, msg: 'the agent is starting' },
    'network pods is not available: plugin picky (code 50): the agent is starting',
  ],
  [
    { code: 51, msg: 'the uplink is down', details: 'eth0 has no carrier' },
    'network pods is not available, and pods may have lost connectivity: plugin picky (code 51): the uplink is down: eth0 has no carrier',
  ],
  [{ code: 7, msg: 'what is this?' }, 'network pods is not available: plugin picky (code 7): what is this?'],
])('STATUS says %j', async (error, message) => {
  const { say, start, poll, harness } = probed();
  say.error = error;
  const network = await start();
  expect(network.status()).toEqual({ ready: false, reason: 'NetworkPluginNotReady', message });
  // The plugin itself answers an ADD.
  await network.setUp(makePod(harness, 'c1'));
  delete say.error;
  await poll();
  expect(network.status()).toEqual({ ready: true, reason: '', message: '' });
  say.error = error;
  await poll();
  expect(network.status().ready).toBe(false);
});

test('a plugin that hangs in STATUS is ended, and the network is not ready', async () => {
  const { say, start, poll } = probed();
  say.hangs = true;
  const network = await start();
  expect(network.status().message).toMatch(/it was ended, since the deadline of 50 ms has passed/);
  say.hangs = false;
  await poll();
  expect(network.status().ready).toBe(true);
});

test('it is called every five seconds, as long as a client asks', async () => {
  const { start, poll, asked } = probed();
  const network = await start();
  expect(asked()).toBe(1);
  for (let count = 0; count < 3; count++) {
    network.status();
    await poll();
  }
  expect(asked()).toBe(4);
  for (let count = 0; count < 10; count++) await poll();
  expect(asked()).toBe(8);
  network.status();
  await poll();
  expect(asked()).toBe(9);
});

test('before 1.1.0 there is no STATUS, and no plugin is asked', async () => {
  const { start, poll, asked, say } = probed('1.0.0');
  say.error = { code: 50, msg: 'never asked' };
  const network = await start();
  await poll();
  expect([asked(), network.status().ready]).toEqual([0, true]);
});

test('another configuration is asked anew', async () => {
  const { say, start, harness } = probed();
  say.error = { code: 50, msg: 'no' };
  const network = await start();
  expect(network.status().ready).toBe(false);
  harness.write('0.conflist', conflist('other', ['bridge'], { cniVersion: '1.1.0' }));
  expect(await network.explain()).toMatchObject({ network: { name: 'other' }, status: { ready: true } });
});

test('a late answer for the former configuration says nothing of the present one', async () => {
  const { say, harness, clock } = probed();
  // Nothing is heard of files, so that only polling sleeps.
  const system = { startWatching: () => ({ close: () => undefined }) };
  const network = await harness.start({ probeTimeoutMs: 10_000, system });
  let answer = (): void => undefined;
  say.waits = new Promise((resolve) => (answer = () => resolve(undefined)));
  await clock.advance(5_000);
  await expect.poll(() => harness.calls('STATUS').length).toBe(2);
  harness.write('0.conflist', conflist('other', ['bridge'], { cniVersion: '1.1.0' }));
  expect(await network.explain()).toMatchObject({ network: { name: 'other' }, status: { ready: true } });
  answer();
  await expect.poll(() => clock.sleepers()).toBe(1);
  expect(network.status()).toEqual({ ready: true, reason: '', message: '' });
});
