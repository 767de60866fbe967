import type {} from '@podwire/backend-linux/resources';
import { createColors } from 'picocolors';
import { describe, expect, test } from 'vitest';
import type { Trace } from '../../src/api/shapes.js';
import { renderTrace } from '../../src/render/trace.js';

const plain = createColors(false);

const link = (name: string) => ({ kind: 'link-up', in: 'host', link: name }) as const;
const trace: Trace = {
  id: 7,
  command: 'ADD',
  endpoint: 'net,c1,eth0',
  pod: 'shop/web',
  startedAt: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  duration: 10,
  result: 'ok',
  stages: [
    { name: 'plan', start: 0, duration: 2 },
    { name: 'apply', start: 2, duration: 8 },
  ],
  resources: [
    { resource: link('a'), action: 'apply', start: 2, duration: 1, batch: 0 },
    { resource: link('b'), action: 'apply', start: 3, duration: 1, batch: 0 },
    { resource: { kind: 'ifb', name: 'i', mtu: 1500 }, action: 'apply', start: 6, duration: 4, batch: 1 },
  ],
};

describe('a trace as a bar chart', () => {
  test('stages in time, and in each the calls to the kernel', () => {
    expect(renderTrace(trace, { width: 46, full: false }, plain)).toEqual([
      'ADD shop/web: ok, 10.0 ms in the agent (#7, 2026-01-02 03:04:05.678 UTC)',
      '',
      'plan         2.00 ms  ████▋',
      'apply        8.00 ms      ██████████████████▍',
      '  2 link-up  2.00 ms      ████▋',
      '  ifb        4.00 ms               █████████▎',
    ]);
  });

  test('every resource by itself', () => {
    const lines = renderTrace(trace, { width: 60, full: true }, plain);
    expect(lines.slice(4).map((line) => line.split(/\s{2,}\d/)[0])).toEqual([
      '  link a up',
      '  link b up',
      '  ifb i',
    ]);
  });

  test('stays within the line, however long the names', () => {
    const long = { ...trace, resources: [{ ...trace.resources[0]!, resource: link('x'.repeat(200)) }] };
    for (const width of [60, 80, 100, 200]) {
      for (const line of renderTrace(long, { width, full: true }, plain).slice(2)) {
        expect(line.length).toBeLessThanOrEqual(width);
      }
    }
  });

  test('an error says why, without control characters', () => {
    const failed = {
      ...trace,
      result: 'PORT_IN_USE',
      error: 'port \u001b[31mtaken',
      stages: [],
      resources: [],
    };
    expect(renderTrace(failed, { width: 80, full: false }, plain).slice(0, 1)).toEqual([
      'ADD shop/web: PORT_IN_USE, 10.0 ms in the agent (#7, 2026-01-02 03:04:05.678 UTC)\nport \uFFFD[31mtaken',
    ]);
  });
});
