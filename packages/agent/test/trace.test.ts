import { describe, expect, test } from 'vitest';
import { createTraceLog, startTrace, type Trace } from '../src/trace.js';

describe('a trace', () => {
  test('has stages one after the other, and resources on the same scale', () => {
    let elapsed = 1000;
    const trace = startTrace({ id: 7, command: 'ADD' }, { now: () => 5, elapsed: () => elapsed });
    trace.stage('parse');
    elapsed += 2;
    trace.stage('apply');
    elapsed += 1;
    const tracer = trace.resources();
    const resource = { kind: 'link-up', in: 'pod', link: 'lo' } as const;
    tracer({ resource, action: 'apply', start: 0.5, duration: 0.25, batch: 3 });
    elapsed += 4;
    trace.identify({ endpoint: 'k' });
    expect(trace.finish('PORT_IN_USE', 'taken')).toEqual({
      id: 7,
      command: 'ADD',
      endpoint: 'k',
      startedAt: 5,
      duration: 7,
      result: 'PORT_IN_USE',
      error: 'taken',
      stages: [
        { name: 'parse', start: 0, duration: 2 },
        { name: 'apply', start: 2, duration: 5 },
      ],
      resources: [{ resource, action: 'apply', start: 3.5, duration: 0.25, batch: 3 }],
    });
  });
});

describe('the latest traces', () => {
  const trace = (id: number): Trace =>
    startTrace({ id, command: 'ADD' }, { now: () => 0, elapsed: () => 0 }).finish('ok');

  test.each([0, 1, 3])('are at most %i', (capacity) => {
    const log = createTraceLog(capacity);
    for (let i = 0; i < 10; i++) {
      log.add(trace(log.nextId()));
      const newest = Math.min(capacity, i + 1);
      expect(log.list().map(({ id }) => id)).toEqual(
        Array.from({ length: newest }, (_, index) => i + 2 - newest + index),
      );
    }
    expect(log.find(10)?.id).toBe(capacity === 0 ? undefined : 10);
    expect(log.find(1)).toBeUndefined();
  });
});
