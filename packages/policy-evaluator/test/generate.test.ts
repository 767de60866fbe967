/**
 * Generated policies are worth testing with: schemas accept the objects, and verdicts are neither all one nor all the
 * other.
 */
import { kinds } from '@podwire/objects';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { standardCluster } from '../src/cases/index.js';
import {
  applyChange,
  arbitraryChange,
  arbitraryCluster,
  arbitraryPolicies,
  listConnections,
  type PolicyFamily,
  samplePolicySets,
} from '../src/generate/index.js';
import { type Cluster, evaluate } from '../src/index.js';

const families: readonly PolicyFamily[] = ['kubernetes', 'admin', 'calico', 'mixed'];

function countAllowed(cluster: Cluster): { allowed: number; all: number } {
  const between = listConnections(cluster).filter(({ from, to }) => 'pod' in from && 'pod' in to);
  const allowed = between.filter((connection) => evaluate(cluster, connection).verdict === 'allow');
  return { allowed: allowed.length, all: between.length };
}

describe.each(families)('policies of family %s', (family) => {
  it('allow between a quarter and three quarters of all connections', () => {
    const counts = fc
      .sample(arbitraryCluster({ namespaces: 2, podsPerNamespace: 2, nodes: 2 }), { numRuns: 60, seed: 1 })
      .map((cluster, index) => {
        const [objects = []] = samplePolicySets(cluster, { count: 1, seed: index, family });
        return countAllowed({ ...cluster, objects });
      });
    const share =
      counts.reduce((sum, each) => sum + each.allowed, 0) / counts.reduce((sum, each) => sum + each.all, 0);
    expect(share).toBeGreaterThan(0.25);
    expect(share).toBeLessThan(0.75);
  });

  it('are the same for the same seed', () => {
    const options = { count: 3, seed: 7, family };
    const cluster = standardCluster();
    expect(samplePolicySets(cluster, options)).toEqual(samplePolicySets(cluster, options));
  });
});

it('changes keep every pod and object under one name', () => {
  const scenario = arbitraryCluster().chain((cluster) =>
    fc.tuple(
      arbitraryPolicies(cluster).map((objects) => ({ ...cluster, objects })),
      fc.array(arbitraryChange(cluster, 'mixed'), { maxLength: 20 }),
    ),
  );
  fc.assert(
    fc.property(scenario, ([cluster, changes]) => {
      const { pods, objects } = changes.reduce(applyChange, cluster);
      const names = [
        ...pods.map(({ namespace, name }) => `${namespace}/${name}`),
        ...objects.map(
          ({ kind, apiVersion, metadata: { namespace, name } }) =>
            `${apiVersion} ${kind} ${namespace}/${name}`,
        ),
      ];
      expect(new Set(names).size).toBe(names.length);
    }),
    { numRuns: 50 },
  );
});

it('schemas accept every object that is generated', () => {
  const scenario = arbitraryCluster().chain((cluster) => arbitraryPolicies(cluster));
  fc.assert(
    fc.property(scenario, (objects) => {
      for (const object of objects) {
        const kind = kinds.find((each) => each.apiVersion === object.apiVersion && each.kind === object.kind);
        expect(kind).toBeDefined();
        expect(kind?.schema.safeParse(object).error?.issues ?? []).toEqual([]);
      }
    }),
    { numRuns: 80 },
  );
});
