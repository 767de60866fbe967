import type { Span } from '@podwire/tracing';
import { createColors } from 'picocolors';
import { expect, test } from 'vitest';
import { renderPodTrace } from '../../src/render/pod-trace.js';

const paint = createColors(false);

function span(
  id: string,
  parentId: string | undefined,
  start: number,
  duration: number,
  more: Partial<Span> = {},
): Span {
  return {
    traceId: 't',
    spanId: id,
    ...(parentId === undefined ? {} : { parentId }),
    name: id,
    startedAt: 1000 + start,
    duration,
    attributes: {},
    ...more,
  };
}

const resource = (id: string, start: number, kind: string, batch: number): Span =>
  span(id, 'apply', start, 0.5, { attributes: { 'podwire.resource': kind, 'podwire.batch': batch } });

const spans = [
  span('pod', undefined, 0, 10),
  span('RunPodSandbox', 'pod', 1, 8),
  span('apply', 'RunPodSandbox', 2, 4),
  resource('a', 2, 'veth', 1),
  resource('b', 3, 'route', 2),
  resource('c', 3.5, 'route', 2),
  resource('d', 5, 'sysctl', 1),
];

const labels = (lines: readonly string[]): string[] =>
  lines.slice(2).map((line) => line.replace(/ +[\d.]+ ms.*$/, ''));

test('what belongs together stands below each other, calls to the kernel as one line', () => {
  const lines = renderPodTrace(spans, { name: 'shop/web', width: 100, full: false }, paint);
  expect(lines[0]).toBe('pod/shop/web: 10.0 ms from its manifest (trace t)');
  expect(labels(lines)).toEqual([
    'pod',
    '  RunPodSandbox',
    '    apply',
    '      veth',
    '      2 route',
    '      sysctl',
  ]);
  expect(lines.find((line) => line.includes('2 route'))).toContain('1.00 ms');
});

test('every resource by itself', () => {
  const lines = renderPodTrace(spans, { name: 'shop/web', width: 100, full: true }, paint);
  expect(labels(lines)).toEqual([
    'pod',
    '  RunPodSandbox',
    '    apply',
    '      a',
    '      b',
    '      c',
    '      d',
  ]);
});

test('what failed says why', () => {
  const failed = [...spans, span('cni ADD x', 'RunPodSandbox', 6, 1, { error: 'no address' })];
  const lines = renderPodTrace(failed, { name: 'shop/web', width: 100, full: false }, paint);
  expect(lines.at(-1)).toBe('cni ADD x: no address');
});

test('nothing kept yet', () => {
  expect(renderPodTrace([], { name: 'shop/web', width: 80, full: false }, paint)[0]).toBe(
    'pod/shop/web: 0.00 ms from its manifest',
  );
});
