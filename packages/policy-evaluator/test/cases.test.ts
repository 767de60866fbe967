/** The evaluator says what was worked out by hand, for every pair of pods, both families, three protocols and two ports. */
import { describe, expect, it } from 'vitest';
import { type Cluster, evaluate, type Pod } from '../src/index.js';
import { applyStep, cases, type CaseStep, type Probe, standardCluster } from '../src/cases/index.js';

const probes: readonly Probe[] = ([4, 6] as const).flatMap((family) =>
  (['tcp', 'udp', 'sctp'] as const).flatMap((protocol) =>
    [80, 81].map((port) => ({ protocol, port, family })),
  ),
);

const nameOf = ({ namespace, name }: Pod): string => `${namespace}/${name}`;

function findDifferences(cluster: Cluster, isAllowed: NonNullable<CaseStep['isAllowed']>): string[] {
  const pairs = cluster.pods.flatMap((from) => cluster.pods.map((to) => ({ from, to })));
  return pairs.flatMap(({ from, to }) =>
    probes.flatMap((probe) => {
      const wanted = from === to || isAllowed(from, to, probe) ? 'allow' : 'deny';
      const connection = { ...probe, from: { pod: nameOf(from) }, to: { pod: nameOf(to) } };
      const actual = evaluate(cluster, connection).verdict;
      const text = `${nameOf(from)} → ${nameOf(to)} ${probe.protocol} ${probe.port} IPv${probe.family}`;
      return actual === wanted ? [] : [`${text}: ${actual}, not ${wanted}`];
    }),
  );
}

describe('cases worked out by hand', () => {
  const cluster = standardCluster();
  it.each(cases.map((each) => ({ title: `${each.category}: ${each.name}`, steps: each.steps })))(
    '$title',
    ({ steps }) => {
      for (const step of steps(cluster))
        if (step.isAllowed !== undefined)
          expect(findDifferences(applyStep(cluster, step), step.isAllowed)).toEqual([]);
    },
  );

  it('has a name of its own for each', () => {
    const names = cases.map(({ category, name }) => `${category} ${name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});
