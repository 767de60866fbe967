/** Dropped packets as a scrape shows them. */
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { DropCount, NodePolicy } from '../../src/policy/contract.js';
import { addPolicyMetrics } from '../../src/policy/metrics.js';

const name = 'podwire_policy_dropped_packets_total';

function startScrapes(counts: () => readonly DropCount[]): () => Promise<string[]> {
  const registry = new Registry();
  addPolicyMetrics(registry, { onApplied: () => undefined, dropCounts: counts } as unknown as NodePolicy);
  return async () => {
    const text = await registry.getSingleMetricAsString(name);
    return text.split('\n').filter((line) => line.startsWith(name));
  };
}

const count = (policy: string, packets: number): DropCount => ({
  ...{ direction: 'ingress', reason: 'rule', tier: 'default' },
  ...{ policy, packets },
});

test('dropped packets are counted by direction, reason, tier and policy, as the kernel has them at the scrape', async () => {
  let counts = [count('a', 3), count('b', 1)];
  const scrape = startScrapes(() => counts);
  await scrape();
  counts = [count('a', 4)];
  expect(await scrape()).toEqual([`${name}{direction="ingress",reason="rule",tier="default",policy="a"} 4`]);
});

test('there are at most 1,000 series and one of all others', async () => {
  const scrape = startScrapes(() => Array.from({ length: 1_200 }, (_, index) => count(`p${index}`, 1)));
  const lines = await scrape();
  expect(lines).toHaveLength(1_001);
  expect(lines.at(-1)).toBe(`${name}{direction="other",reason="other",tier="other",policy="other"} 200`);
});
