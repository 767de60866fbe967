// @module-tag long
import { describe, expect, test } from 'vitest';
import { defaultSimulation, measureFollowing, measurePeers, simulate } from '../src/index.js';

const small = { ...defaultSimulation, nodes: 40, podsPerNode: 20, blocks: 128 };

describe('a simulated cluster', () => {
  test('every pod has an address of its own in a block of its node, whatever goes wrong', async () => {
    for (const seed of [1, 2, 3]) {
      const faults = { conflict: 0.1, 'answer-lost': 0.05, 'request-lost': 0.05, unavailable: 0.05 };
      const result = await simulate({ ...small, faults, seed });
      expect(result.blocksClaimed).toBeGreaterThanOrEqual(small.nodes);
      expect(result.pods).toBe(800);
    }
  });

  test('is the same in every run', async () => {
    const facts = async () => {
      const { topics, simulated, slowPaths } = await simulate(small);
      return { topics, simulated, slowPaths };
    };
    expect(await facts()).toEqual(await facts());
  });

  test('an ADD asks nothing of the store while the node has free addresses', async () => {
    const result = await simulate({ ...small, faults: {}, podsPerNode: 10 });
    expect(result.slowPaths).toBe(0);
  });

  test('a pool that is too small is found out', async () => {
    await expect(simulate({ ...small, faults: {}, blocks: 8, arriving: 5 })).rejects.toThrow(
      /POOL_EXHAUSTED|pool/,
    );
  });
});

test('what one node pays for many', async () => {
  const following = await measureFollowing(500);
  expect([following.blocks, following.bytes > 0]).toEqual([500, true]);
  expect(measurePeers(100).resources).toBeGreaterThanOrEqual(400);
});
