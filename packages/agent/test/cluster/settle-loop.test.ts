import { silentLog, systemClock } from '@podwire/platform';
import { expect, test } from 'vitest';
import { createSettleLoop, type SettleLoop } from '../../src/cluster/settle-loop.js';
import { until } from '../fakes/cluster.js';

function create(work: (signal: AbortSignal) => Promise<void>): SettleLoop {
  return createSettleLoop({
    work,
    failure: 'failed',
    clock: systemClock,
    log: silentLog,
    gather: 5,
    pause: 5,
  });
}

test('what comes together is done once, and what comes meanwhile is done again', async () => {
  let runs = 0;
  const loop = create(async () => {
    runs += 1;
    if (runs === 1) loop.soon();
    await Promise.resolve();
  });
  for (let index = 0; index < 10; index++) loop.soon();
  await until(() => runs === 2);
  await loop.stop();
  expect(runs).toBe(2);
});

test('never beside itself; a failure is tried again', async () => {
  let [running, most, runs] = [0, 0, 0];
  const loop = create(async () => {
    running += 1;
    runs += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    if (runs < 3) throw new Error('not yet');
  });
  loop.soon();
  await until(() => runs === 3);
  await loop.stop();
  expect([runs, most]).toEqual([3, 1]);
});

test('stopping ends what waits, and waits for what runs', async () => {
  let [begun, ended] = [false, false];
  const loop = create((signal) => {
    begun = true;
    return new Promise((resolve) =>
      signal.addEventListener('abort', () =>
        setImmediate(() => {
          ended = true;
          resolve();
        }),
      ),
    );
  });
  loop.soon();
  await until(() => begun);
  await loop.stop();
  expect(ended).toBe(true);
  loop.soon();
  await loop.stop();
});

test('what comes in the moment between the last look and the end is done too', async () => {
  for (let turns = 0; turns < 8; turns++) {
    let runs = 0;
    const loop = create(() => {
      runs += 1;
      if (runs === 1) void afterTurns(turns, loop);
      return Promise.resolve();
    });
    loop.soon();
    await until(() => runs === 2);
    await loop.stop();
  }
});

async function afterTurns(turns: number, loop: SettleLoop): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await Promise.resolve();
  loop.soon();
}
