import type { DropReason } from '@podwire/network-policy';
import { expect, test } from 'vitest';
import { countDrops } from '../../src/policy/look/drop-counts.js';

const web: DropReason = {
  direction: 'ingress',
  reason: 'rule',
  tier: 'default',
  policy: 'NetworkPolicy shop/web',
};
const end: DropReason = { direction: 'egress', reason: 'end-of-tier', tier: 'default' };

test('rules that drop for one reason are one number, and others none', () => {
  const reasons: Readonly<Record<string, DropReason>> = { 'a 1': web, 'b 1': web, 'c 3': end, 'd 1': end };
  const describeRule = ({ chain, index }: { chain: string; index: number }): DropReason | undefined =>
    reasons[`${chain} ${index}`];
  const counters = [
    { chain: 'a', index: 1, packets: 3n },
    { chain: 'a', index: 0, packets: 9n },
    { chain: 'b', index: 1, packets: 4n },
    { chain: 'c', index: 3, packets: 1n },
    { chain: 'd', index: 1, packets: 0n },
  ];
  expect(countDrops(counters, { describeRule })).toEqual([
    { ...web, packets: 7 },
    { ...end, packets: 1 },
  ]);
  expect(countDrops(counters, {})).toEqual([]);
});
