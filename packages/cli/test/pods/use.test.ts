import { createColors } from 'picocolors';
import { expect, test } from 'vitest';
import { formatBytes, measureUse, renderUse } from '../../src/pods/use.js';

const use = (at: number, cpuSeconds: number, name = 'main') => ({
  name,
  at,
  cpuSeconds,
  memoryBytes: 5 << 20,
});
const pod = (...containers: readonly ReturnType<typeof use>[]) => ({
  ...{ namespace: 'shop', name: 'web', processes: 4, rxBytes: 2048, txBytes: 10 },
  containers,
});

test('the share of the processors is that between two looks', () => {
  const before = [pod(use(10, 3), use(10, 8, 'side'))];
  const now = [pod(use(12, 4), use(12, 0.1, 'side'), use(12, 1, 'fresh'))];
  expect(measureUse(before, now)[0]?.containers.map(({ cpu }) => cpu)).toEqual([0.5, undefined, undefined]);
  expect(measureUse([], now)[0]?.containers[0]?.cpu).toBeUndefined();
});

test('a line for each container; what is the pod’s stands in its first', () => {
  const measured = measureUse([pod(use(10, 3), use(10, 3, 'side'))], [pod(use(11, 4.5), use(11, 3, 'side'))]);
  expect(renderUse(measured, createColors(false), 80)).toEqual([
    'POD        CONTAINER      CPU   MEMORY   PROCESSES   RECEIVED   SENT',
    'shop/web   main        150.0%   5.0MiB           4     2.0KiB    10B',
    'shop/web   side          0.0%   5.0MiB',
  ]);
});

test.each([
  [0, '0B'],
  [1023, '1023B'],
  [1536, '1.5KiB'],
  [200 * 1024, '200KiB'],
  [3 * 1024 ** 3, '3.0GiB'],
  [undefined, '-'],
])('%s bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
