import { createSpanLog } from '@podwire/tracing';
import { expect, test } from 'vitest';
import { makeSpan } from './make-span.js';

const inTrace = (trace: string, id: number) => makeSpan(id, { traceId: trace });

test('spans are found by their trace', () => {
  const log = createSpanLog();
  log.add(inTrace('a', 1));
  log.add(inTrace('b', 2));
  log.add(inTrace('a', 3));
  expect(log.get('a').map(({ name }) => name)).toEqual(['span 1', 'span 3']);
  expect(log.get('c')).toEqual([]);
});

test('the trace that was quiet for longest goes first', () => {
  const log = createSpanLog({ traces: 2 });
  log.add(inTrace('a', 1));
  log.add(inTrace('b', 2));
  log.add(inTrace('a', 3));
  log.add(inTrace('c', 4));
  expect(log.list()).toEqual([
    { traceId: 'a', spans: 2, dropped: 0 },
    { traceId: 'c', spans: 1, dropped: 0 },
  ]);
  expect(log.get('b')).toEqual([]);
});

test('a trace without end is cut, and says so', () => {
  const log = createSpanLog({ spansPerTrace: 3 });
  for (let id = 0; id < 10; id++) log.add(inTrace('a', id));
  expect(log.get('a')).toHaveLength(3);
  expect(log.list()).toEqual([{ traceId: 'a', spans: 3, dropped: 7 }]);
});
