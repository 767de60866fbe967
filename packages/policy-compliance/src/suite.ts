import type { Cluster, Connection } from '@podwire/policy-evaluator';
import { applyStep, cases, standardCluster } from '@podwire/policy-evaluator/cases';
import {
  applyChange,
  arbitraryChange,
  arbitraryCluster,
  arbitraryPolicies,
  listConnections,
  type PolicyFamily,
} from '@podwire/policy-evaluator/generate';
import fc from 'fast-check';
import { changesOf, difference } from './changes.js';
import { PolicedCluster, type PolicedNode } from './cluster.js';

export type MakeNode = (name: string) => PolicedNode;

const nothing: Cluster = { objects: [], pods: [], nodes: [] };
const isOfFewPods = ({ from, to }: Connection): boolean =>
  [from, to].every((party) => !('pod' in party) || ['x/a', 'y/b', 'x/b'].includes(party.pod));

/** @returns what goes wrong in the cases made by hand, step by step; nothing when all is well */
export async function checkCases(make: MakeNode): Promise<readonly string[]> {
  const differences: string[] = [];
  for (const { name, steps } of cases) {
    const found = await checkSteps(make, steps(standardCluster()));
    differences.push(...found.map((each) => `${name}: ${each}`));
  }
  return differences;
}

async function checkSteps(make: MakeNode, steps: readonly Step[]): Promise<readonly string[]> {
  const nodes = new PolicedCluster(
    standardCluster().nodes.map((node) => node.name),
    make,
  );
  const differences: string[] = [];
  let before = nothing;
  for (const step of steps) {
    const cluster = applyStep(standardCluster(), step);
    nodes.take(difference(before, cluster), cluster.pods);
    before = cluster;
    const connections = listConnections(cluster).filter(isOfFewPods);
    differences.push(...(await nodes.findDifferences(cluster, connections)));
  }
  return differences;
}

type Step = Parameters<typeof applyStep>[1];

const small = { namespaces: 2, podsPerNamespace: 2, nodes: 2 };

/** Policy of host endpoints is rendered in other ways: without them nothing but pods is protected. */
const withoutHosts = (cluster: Cluster): Cluster => ({
  ...cluster,
  objects: cluster.objects.filter(({ kind }) => kind !== 'HostEndpoint'),
});

/**
 * Random clusters, through random changes: what was changed step by step is what the renderer wants, and what it would have
 * made from nothing; and packets arrive where the evaluator says.
 * @throws Error with the smallest cluster that goes wrong
 */
export async function checkRandomClusters(make: MakeNode, family: PolicyFamily, runs: number): Promise<void> {
  const scenario = arbitraryCluster(small).chain((cluster) =>
    fc.tuple(
      arbitraryPolicies(cluster, family, 4).map((objects) => ({ ...cluster, objects })),
      fc.array(arbitraryChange(cluster, family, small), { maxLength: 4 }),
    ),
  );
  await fc.assert(
    fc.asyncProperty(scenario, async ([start, changes]) => {
      const states = changes.reduce<Cluster[]>(
        (list, change) => [...list, applyChange(list.at(-1)!, change)],
        [start],
      );
      await checkStates(make, states.map(withoutHosts));
    }),
    { numRuns: runs },
  );
}

async function checkStates(make: MakeNode, states: readonly Cluster[]): Promise<void> {
  const nodes = new PolicedCluster(
    states[0]!.nodes.map(({ name }) => name),
    make,
  );
  let before = nothing;
  for (const cluster of states) {
    nodes.take(difference(before, cluster), cluster.pods);
    before = cluster;
    checkSame(nodes, cluster, make);
  }
  const [first] = await nodes.findDifferences(before, listConnections(before));
  if (first !== undefined) throw new Error(first);
}

function checkSame(nodes: PolicedCluster, cluster: Cluster, make: MakeNode): void {
  const fresh = new PolicedCluster([...nodes.nodes.keys()], make);
  fresh.take(changesOf(cluster), cluster.pods);
  for (const [name, node] of nodes.nodes) {
    const present = sorted(node.present);
    if (present !== sorted(node.wanted))
      throw new Error(`${name} has other content than is wanted: ${present}`);
    const made = sorted(fresh.nodes.get(name)!.present);
    if (present !== made) throw new Error(`${name} has\n${present}\nand from nothing it would have\n${made}`);
  }
}

const sorted = (content: readonly unknown[]): string =>
  content
    .map((each) => JSON.stringify(each))
    .sort()
    .join('\n');
