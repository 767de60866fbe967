/** Abilities of the memory store beyond the interface: faults, latencies, and speed that simulations need. */
import { setMaxListeners } from 'node:events';
import { expect, test } from 'vitest';
import { isUncertain } from '../src/index.js';
import { createMemoryServer, type Fault, type MemoryCall, randomFaults } from '../src/memory/index.js';
import { createTestClock } from '@podwire/platform/testing';

async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'well';
  } catch (error) {
    return isUncertain(error) ? 'uncertain' : (error as { code: string }).code;
  }
}

test.each([
  ['unavailable', 'STORE_UNAVAILABLE', undefined],
  ['request-lost', 'uncertain', undefined],
  ['answer-lost', 'uncertain', '1'],
  [undefined, 'well', '1'],
] as const)('a write with the fault %s ends %s', async (fault, outcome, value) => {
  const server = createMemoryServer();
  const [good, bad] = [server.connect(), server.connect({ decide: () => fault })];
  expect(await outcomeOf(bad.put('/a', '1'))).toBe(outcome);
  expect((await good.get('/a'))?.value).toBe(value);
});

test('a write whose store is closed on the way there was not done, on the way back it is uncertain', async () => {
  const clock = createTestClock();
  const server = createMemoryServer({ clock });
  const other = server.connect();
  const none = new AbortController().signal;
  for (const [passed, outcome, value] of [
    [10, 'STORE_UNAVAILABLE', undefined],
    [60, 'uncertain', '1'],
  ] as const)
    for (const options of [{}, { signal: none }]) {
      const store = server.connect({ latency: () => 100 });
      const write = outcomeOf(store.put('/a', '1', options));
      await clock.advance(passed);
      await store.close();
      await clock.advance(100);
      expect(await write).toBe(outcome);
      expect((await other.get('/a'))?.value).toBe(value);
      await other.delete('/a');
    }
});

test('a conflict is one: another client has written the item', async () => {
  const server = createMemoryServer();
  let fault: Fault | undefined = 'conflict';
  const store = server.connect({ decide: () => fault });
  const other = server.connect();
  const revision = await other.put('/a', '1');
  expect(await outcomeOf(store.put('/a', '2', { expect: revision }))).toBe('STORE_CONFLICT');
  const now = await other.get('/a');
  expect(now).toMatchObject({ value: '1' });
  expect(now?.revision).toBeGreaterThan(revision);
  fault = undefined;
  await store.put('/a', '2', { expect: now?.revision ?? 0 });
});

test('calls and news take the latency, by the clock that was passed in', async () => {
  const clock = createTestClock();
  const server = createMemoryServer({ clock });
  const store = server.connect({ latency: ({ operation }) => (operation === 'watch' ? 70 : 100) });
  const told: number[] = [];
  const over = new AbortController();
  const watching = (async () => {
    for await (const _ of store.watch('/', { signal: over.signal })) told.push(clock.elapsed());
  })();
  await clock.advance(100);
  const put = store.put('/a', '1').then(() => clock.elapsed());
  await clock.advance(1_000);
  expect(await put).toBe(200);
  expect(told).toEqual([70, 220]);
  over.abort();
  await watching;
  await store.close();
  expect(clock.sleepers()).toBe(0);
});

test('a call that is aborted on its way is given up at once', async () => {
  const clock = createTestClock();
  const server = createMemoryServer({ clock });
  const store = server.connect({ latency: () => 100 });
  const over = new AbortController();
  const put = outcomeOf(store.put('/a', '1', { signal: over.signal }));
  over.abort(Object.assign(new Error('enough'), { code: 'MINE' }));
  expect(await put).toBe('MINE');
  expect(server.size).toBe(0);
});

test('watches that are dropped again and again still tell everything', async () => {
  const server = createMemoryServer();
  let state = 7;
  const random = (): number => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
  const store = server.connect({ decide: randomFaults({ unavailable: 0.3 }, random) });
  const writer = server.connect();
  const over = new AbortController();
  let [interruptions, recoveries] = [0, 0];
  const told: string[] = [];
  const options = {
    signal: over.signal,
    onInterruption: () => interruptions++,
    onRecovery: () => recoveries++,
  };
  for await (const batch of store.watch('/', options)) {
    if (batch.type === 'snapshot')
      void (async () => {
        for (let value = 0; value < 200; value++) await writer.put('/a', String(value));
      })();
    else for (const change of batch.changes) told.push(change.type === 'put' ? change.item.value : '-');
    if (told.length === 200) break;
  }
  expect(told).toEqual(Array.from({ length: 200 }, (_, value) => String(value)));
  expect(interruptions).toBeGreaterThan(10);
  expect(recoveries).toBe(interruptions);
});

test('shares of random faults are what was asked for', () => {
  let state = 1;
  const random = (): number => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
  const decide = randomFaults({ conflict: 0.2, 'answer-lost': 0.05 }, random);
  const call: MemoryCall = { operation: 'put', key: '/a' };
  const all = Array.from({ length: 20_000 }, () => decide(call));
  const share = (fault: Fault | undefined) => all.filter((each) => each === fault).length / all.length;
  expect(share('conflict')).toBeCloseTo(0.2, 1);
  expect(share('answer-lost')).toBeCloseTo(0.05, 1);
  expect(share('unavailable')).toBe(0);
  expect(share(undefined)).toBeCloseTo(0.75, 1);
});

test('what one call costs does not grow with items and watches of other prefixes', async () => {
  const server = createMemoryServer();
  const store = server.connect();
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  let told = 0;
  const watching = Array.from({ length: 2_000 }, async (_, node) => {
    for await (const { type } of store.watch(`/own/${node}/`, { signal: over.signal }))
      if (type === 'changes') told++;
  });
  for (let index = 0; index < 50_000; index++) await store.put(`/blocks/${index}`, 'x');
  await store.put('/own/7/a', 'x');
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toBe(1);
  expect(server.size).toBe(50_001);
  expect((await store.list('/own/')).items).toHaveLength(1);
  over.abort();
  await Promise.all(watching);
});
