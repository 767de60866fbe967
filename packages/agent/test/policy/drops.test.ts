/** Packets that policy has dropped, for those who read along. */
import { AsyncQueue, onAbort } from '@podwire/platform';
import { createTestClock, type TestClock } from '@podwire/platform/testing';
import { beforeEach, expect, test } from 'vitest';
import type { Drop, DroppedPacket } from '../../src/policy/contract.js';
import { DropLog } from '../../src/policy/look/drops.js';
import { createLogged, type Logged } from '../fakes/logged.js';

/** The kernel's log group: each opening of it is a queue. */
let opened: AsyncQueue<DroppedPacket>[];
let clock: TestClock;
let logged: Logged;
let log: DropLog;

beforeEach(() => {
  opened = [];
  clock = createTestClock();
  logged = createLogged();
  log = new DropLog({
    ...{ clock, log: logged.log },
    open(signal) {
      const group = new AsyncQueue<DroppedPacket>();
      opened.push(group);
      onAbort(signal, () => group.end());
      return group;
    },
    describe: ({ prefix }) => ({ time: prefix }),
  });
});

interface Reader {
  readonly told: Drop[];
  leave(): void;
}

/** Reads as fast as drops come. */
function read(): Reader {
  const told: Drop[] = [];
  const controller = new AbortController();
  const drops = log.follow(controller.signal);
  void (async () => {
    for await (const drop of drops) told.push(drop);
  })();
  return { told, leave: () => controller.abort() };
}

async function drop(...packets: readonly string[]): Promise<void> {
  for (const prefix of packets) opened.at(-1)!.push({ prefix });
  await clock.settle();
}

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `p${index}`);

test('the log group is open while there is a reader', async () => {
  expect(opened).toHaveLength(0);
  const [one, two] = [read(), read()];
  expect(opened).toHaveLength(1);
  one.leave();
  await drop('a');
  two.leave();
  expect(opened[0]!.ended).toBe(true);
  expect([one.told, two.told]).toEqual([[], [{ time: 'a', suppressed: 0 }]]);
  read();
  expect(opened).toHaveLength(2);
});

test('one who has given up before it began opens nothing for long', async () => {
  const drops = log.follow(AbortSignal.abort());
  await clock.settle();
  for await (const each of drops) expect(each).toBeUndefined();
  expect(opened.every(({ ended }) => ended)).toBe(true);
});

test('when the agent stops, all readers end', async () => {
  const drops = log.follow(new AbortController().signal);
  log.stop();
  expect(await drops[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
  expect(opened[0]!.ended).toBe(true);
});

const failure = 'warn: dropped packets cannot be listened to; it is tried again';

test.each<[string, (group: AsyncQueue<DroppedPacket>) => void, string[]]>([
  ['fails', (group) => group.fail(new Error('EPERM')), [failure]],
  ['ends', (group) => group.end(), []],
])('a log group that %s is opened again, and readers stay', async (_, end, said) => {
  const { told } = read();
  await drop('a');
  end(opened[0]!);
  await clock.advance(5_000);
  await drop('b');
  expect(told.map(({ time }) => time)).toEqual(['a', 'b']);
  expect(logged.messages).toEqual(said);
});

test('of a flood 500 a second are told, and the next one says how many were not', async () => {
  const { told } = read();
  await drop(...many(620));
  expect(told).toHaveLength(500);
  await clock.advance(1_000);
  await drop('next', 'last');
  expect(told.slice(500)).toEqual([
    { time: 'next', suppressed: 120 },
    { time: 'last', suppressed: 0 },
  ]);
});

test('a reader is not told of what was left out before it came', async () => {
  read();
  await drop(...many(600));
  const { told } = read();
  await clock.advance(1_000);
  await drop('next');
  expect(told).toEqual([{ time: 'next', suppressed: 0 }]);
});

test('a reader that is slow has 1,000 waiting, is told how many it has missed, and delays no other', async () => {
  const slow = log.follow(new AbortController().signal)[Symbol.asyncIterator]();
  const fast = read();
  for (let second = 0; second < 3; second++) {
    await drop(...many(400));
    await clock.advance(1_000);
  }
  for (let count = 0; count < 1_000; count++)
    expect((await slow.next()).value).toMatchObject({ suppressed: 0 });
  await drop('next');
  expect((await slow.next()).value).toEqual({ time: 'next', suppressed: 200 });
  expect(fast.told.at(-1)).toEqual({ time: 'next', suppressed: 0 });
  expect(fast.told).toHaveLength(1_201);
});
