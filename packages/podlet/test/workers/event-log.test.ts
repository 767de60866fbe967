import { expect, test } from 'vitest';
import type { PodEvent } from '../../src/contract.js';
import { EventLog } from '../../src/workers/event-log.js';

const web = { namespace: 'shop', name: 'web', uid: 'u1' };
const hour = 3_600_000;

function event(message: string, lastAt: number, count = 1): PodEvent {
  return { type: 'Warning', reason: 'Failed', message, at: 0, lastAt, count };
}

function makeLog() {
  let now = 0;
  const log = new EventLog(() => now);
  const messages = () => log.list().map(({ message, count }) => `${message} ${count}`);
  return { log, messages, at: (time: number) => (now = time) };
}

test('the latest is the last, and one that is repeated is counted', () => {
  const { log, messages } = makeLog();
  log.add(web, event('a', 1));
  log.add(web, event('b', 2));
  log.add(web, event('a', 3, 2));
  expect(messages()).toEqual(['b 1', 'a 2']);
  expect(log.list()[0]).toMatchObject(web);
});

test('events outlive their pod by an hour', () => {
  const { log, messages, at } = makeLog();
  log.add(web, event('a', 0));
  at(hour / 2);
  log.add({ ...web, uid: 'u2' }, event('a', hour / 2));
  at(hour + 1);
  expect(messages()).toEqual(['a 1']);
  expect(log.list()[0]!.uid).toBe('u2');
});

test('of many the oldest go, and of a long message its end', () => {
  const { log } = makeLog();
  for (let index = 0; index < 1_005; index++) log.add(web, event(`m${index}`, 0));
  expect(log.list()).toHaveLength(1_000);
  expect(log.list()[0]!.message).toBe('m5');
  log.add(web, event('x'.repeat(5_000), 0));
  expect(log.list().at(-1)!.message).toHaveLength(1_024);
});

test('a listener is told of what is there, and of what comes, until it stops', () => {
  const { log } = makeLog();
  const told: string[] = [];
  log.add(web, event('before', 0));
  const stop = log.subscribe(({ message }) => told.push(message));
  log.add(web, event('after', 0));
  stop();
  log.add(web, event('late', 0));
  expect(told).toEqual(['before', 'after']);
});
