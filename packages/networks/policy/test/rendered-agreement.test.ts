/** Objects go through translation, compiler and renderer; packets through the rendered rules; the evaluator says what must arrive. */
import { checkCases, checkRandomClusters } from '@podwire/policy-compliance';
import { expect, it } from 'vitest';
import { SimulatedNode } from './simulated-node.js';

const runs = (usual: number): number => Math.round(usual * Number(process.env['PODWIRE_PROPERTY_RUNS'] ?? 1));
const make = (name: string): SimulatedNode => new SimulatedNode(name);

it('in every case made by hand, step by step', async () => {
  expect(await checkCases(make)).toEqual([]);
});

it.each(['kubernetes', 'admin', 'calico', 'mixed'] as const)(
  'in random clusters with policies of the family %s, after random changes',
  async (family) => {
    await checkRandomClusters(make, family, runs(20));
  },
);
