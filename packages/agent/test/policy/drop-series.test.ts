import { expect, test } from 'vitest';
import type { DropCount } from '../../src/policy/contract.js';
import { DropSeries, mostDropSeries } from '../../src/policy/look/drop-series.js';

const count = (policy: string, packets: number): DropCount => ({
  ...{ direction: 'ingress', reason: 'rule', tier: 'default' },
  ...{ policy, packets },
});
const ofTier: DropCount = { direction: 'egress', reason: 'end-of-tier', tier: 'default', packets: 9 };

/** Packets by policy. */
const take = (series: DropSeries, ...counts: readonly DropCount[]): Record<string, number> =>
  Object.fromEntries(series.take(counts).map(({ labels, packets }) => [labels.policy, packets]));

test('each reason is a series with all labels', () => {
  expect(new DropSeries().take([count('a', 3), ofTier])).toEqual([
    { labels: { direction: 'ingress', reason: 'rule', tier: 'default', policy: 'a' }, packets: 3 },
    { labels: { direction: 'egress', reason: 'end-of-tier', tier: 'default', policy: '' }, packets: 9 },
  ]);
});

test('what does not fit is one series', () => {
  const others = { direction: 'other', reason: 'other', tier: 'other', policy: 'other' };
  const samples = new DropSeries(1).take([count('a', 3), count('b', 4), ofTier]);
  expect(samples.slice(1)).toEqual([{ labels: others, packets: 13 }]);
  expect(take(new DropSeries(3), count('a', 3), count('b', 4), ofTier)).not.toHaveProperty('other');
});

test('no packet is lost among ten thousand policies', () => {
  const counts = Array.from({ length: 10_000 }, (_, index) => count(`p${index}`, 2));
  const samples = new DropSeries().take(counts);
  expect(samples).toHaveLength(mostDropSeries + 1);
  expect(samples.reduce((sum, { packets }) => sum + packets, 0)).toBe(20_000);
});

test('a series stays the same one, whatever order counts have', () => {
  const series = new DropSeries(2);
  take(series, count('b', 1), count('c', 1));
  expect(take(series, count('a', 5), count('b', 2), count('c', 3))).toEqual({ b: 2, c: 3, other: 5 });
});

test('a place is free again when its policy is gone: for a new one, since the others may not shrink', () => {
  const series = new DropSeries(1);
  take(series, count('a', 1), count('b', 5));
  expect(take(series, count('b', 6), count('c', 2))).toEqual({ c: 2, other: 6 });
  expect(take(series, count('c', 3))).toEqual({ c: 3 });
  expect(take(series, count('b', 1), count('c', 3))).toEqual({ c: 3, other: 1 });
});
