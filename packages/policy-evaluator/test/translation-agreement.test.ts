/** Objects, and what the translation makes of them, give one verdict. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyStep, cases, standardCluster } from '../src/cases/index.js';
import {
  arbitraryCluster,
  arbitraryPolicies,
  listConnections,
  type PolicyFamily,
} from '../src/generate/index.js';
import { type Cluster, type Connection, evaluate } from '../src/index.js';
import { resolvePacket } from '../src/packet.js';
import { changesOf, collect } from './inputs.js';
import { decideNormal } from './normal-form.js';
import { runs } from './runs.js';

/** Sides that policy decides. */
const isDecided = (reason: string): boolean =>
  ['rule', 'end-of-tier', 'end-of-profiles', 'default'].includes(reason);

function findDifferences(cluster: Cluster, connections: readonly Connection[]): string[] {
  const inputs = collect(changesOf(cluster));
  return connections.flatMap((connection) => {
    const packet = resolvePacket(cluster, connection);
    if (packet === undefined) return [];
    const evaluation = evaluate(cluster, connection);
    return (['egress', 'ingress'] as const).flatMap((direction) => {
      const side = direction === 'egress' ? packet.source : packet.destination;
      const why = evaluation[direction];
      if (side.pod === undefined || !isDecided(why.reason)) return [];
      const verdict = decideNormal(inputs, side.pod, direction, packet);
      return verdict === why.verdict
        ? []
        : [`${JSON.stringify(connection)} ${direction}: ${verdict}, evaluator ${JSON.stringify(why)}`];
    });
  });
}

/** Of the cases' targets and peers these see most. */
const isOfTwoPods = ({ from, to }: Connection): boolean =>
  [from, to].every((party) => !('pod' in party) || ['x/a', 'y/b', 'x/b'].includes(party.pod));

it('in every case made by hand', () => {
  for (const { name, steps } of cases)
    for (const step of steps(standardCluster())) {
      const cluster = applyStep(standardCluster(), step);
      expect({
        name,
        differences: findDifferences(cluster, listConnections(cluster).filter(isOfTwoPods)),
      }).toEqual({
        name,
        differences: [],
      });
    }
});

describe.each<PolicyFamily>(['kubernetes', 'admin', 'calico', 'mixed'])('family %s', (family) => {
  it('in random clusters', () => {
    const size = { namespaces: 2, podsPerNamespace: 2, nodes: 2 };
    const scenario = arbitraryCluster(size).chain((cluster) =>
      arbitraryPolicies(cluster, family, 4).map((objects) => ({ ...cluster, objects })),
    );
    fc.assert(
      fc.property(scenario, (cluster) => {
        expect(findDifferences(cluster, listConnections(cluster)).slice(0, 3)).toEqual([]);
      }),
      { numRuns: runs(25) },
    );
  });
});
