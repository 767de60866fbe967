import { createPreciseClock, createTracer, noTracer, type Span, withSpan } from '@podwire/tracing';
import { expect, test } from 'vitest';

function harness(random?: (bytes: number) => Uint8Array) {
  const ended: Span[] = [];
  let time = 1000.25;
  let count = 0;
  const tracer = createTracer({
    now: () => time,
    random: random ?? ((bytes) => new Uint8Array(bytes).fill(++count)),
    onEnd: (span) => ended.push(span),
  });
  return { tracer, ended, pass: (ms: number) => (time += ms) };
}

test('a trace with a child: ids, times, attributes', () => {
  const { tracer, ended, pass } = harness();
  const root = tracer.start('RunPodSandbox', undefined, { pod: 'shop/web' });
  pass(1.5);
  const child = root.child('cni ADD podwire-cni', { try: 1 });
  pass(2);
  child.set({ exit: 0 });
  child.end();
  root.set({ pod: 'shop/db' });
  root.end();
  expect(ended).toEqual([
    {
      traceId: '01'.repeat(16),
      spanId: '03'.repeat(8),
      parentId: '02'.repeat(8),
      name: 'cni ADD podwire-cni',
      startedAt: 1001.75,
      duration: 2,
      attributes: { try: 1, exit: 0 },
    },
    {
      traceId: '01'.repeat(16),
      spanId: '02'.repeat(8),
      name: 'RunPodSandbox',
      startedAt: 1000.25,
      duration: 3.5,
      attributes: { pod: 'shop/db' },
    },
  ]);
});

test('a trace that came from elsewhere goes on; that of a switched-off tracer does not', () => {
  const { tracer, ended } = harness();
  const parent = { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) };
  tracer.start('a', parent).end();
  tracer.start('b', noTracer.start('x').context).end();
  expect(ended[0]).toMatchObject({ traceId: parent.traceId, parentId: parent.spanId });
  expect(ended[1]).not.toHaveProperty('parentId');
  expect(ended[1]!.traceId).not.toMatch(/^0+$/);
});

test('a span ends once, and what comes later is not heard', () => {
  const { tracer, ended } = harness();
  const span = tracer.start('a');
  span.end(new Error('outer', { cause: new Error('inner') }));
  span.set({ late: true });
  span.end();
  expect(ended).toEqual([expect.objectContaining({ error: 'outer: inner', attributes: {} })]);
});

test('whatever is thrown is an error in words', () => {
  const { tracer, ended } = harness();
  for (const thrown of ['text', new TypeError(''), { odd: 1 }, null]) tracer.start('a').end(thrown);
  expect(ended.map(({ error }) => error)).toEqual(['text', 'TypeError', '[object Object]', 'null']);
});

test('an id is never all zeros, not even from a bad source', () => {
  const { tracer } = harness((bytes) => new Uint8Array(bytes));
  const { context } = tracer.start('a');
  expect(context).toEqual({ traceId: '0'.repeat(31) + '1', spanId: '0'.repeat(15) + '1' });
});

test('a listener that throws does not disturb the work', () => {
  const tracer = createTracer({
    onEnd: () => {
      throw new Error('no');
    },
  });
  expect(() => tracer.start('a').end()).not.toThrow();
});

test('a clock that is set back while a span lasts changes no duration', () => {
  let wall = 5000;
  let monotonic = 0;
  const ended: Span[] = [];
  const tracer = createTracer({
    now: () => wall,
    elapsed: () => monotonic,
    onEnd: (span) => ended.push(span),
  });
  const span = tracer.start('a');
  wall = 100;
  monotonic = 7;
  span.end();
  expect(ended[0]).toMatchObject({ startedAt: 5000, duration: 7 });
});

test('the precise clock follows the time of day, with fractions in between', () => {
  let wall = 1000;
  let monotonic = 3.25;
  const now = createPreciseClock(
    () => wall,
    () => monotonic,
  );
  monotonic += 0.5;
  expect(now()).toBe(1000.5);
  wall = 90_000;
  expect(now()).toBe(90_000);
});

test('switched off: a given context is passed on, nothing else happens', () => {
  const parent = { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) };
  const span = noTracer.start('a', parent);
  expect(span.child('b').context).toBe(parent);
  span.set({ a: 1 });
  span.end();
});

test('work in a span ends it, with its error if it has one', async () => {
  const { tracer, ended } = harness();
  expect(await withSpan(tracer.start('a'), () => Promise.resolve(5))).toBe(5);
  await expect(withSpan(tracer.start('b'), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(ended.map(({ name, error }) => [name, error])).toEqual([
    ['a', undefined],
    ['b', 'no'],
  ]);
});
