/** The compiler gives the verdicts of the evaluator, and comes to the same by changes as from nothing. */
import {
  type Connection as PacketConnection,
  createCompiler,
  decidePath,
  type PodInspection,
  type PolicyCompiler,
} from '@podwire/policy';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyStep, cases, standardCluster } from '../src/cases/index.js';
import {
  applyChange,
  arbitraryChange,
  arbitraryCluster,
  arbitraryPolicies,
  listConnections,
  type PolicyFamily,
} from '../src/generate/index.js';
import { decideByHostEndpoint } from '../src/host.js';
import { type Cluster, type Connection, evaluate } from '../src/index.js';
import { isHostEndpoint, lendLabels } from '../src/kinds/calico-entity.js';
import { type Packet, resolvePacket, type Side } from '../src/packet.js';
import { canonical, decideCompiled, Mirror } from './compiled.js';
import { changesOf, difference } from './inputs.js';
import { runs } from './runs.js';

const directions = ['egress', 'ingress'] as const;

/** Sides that policy decides. */
const isDecided = (reason: string): boolean =>
  ['rule', 'end-of-tier', 'end-of-profiles', 'default'].includes(reason);

type Compilers = ReadonlyMap<string, PolicyCompiler>;

const createCompilers = (cluster: Cluster): Compilers =>
  new Map(cluster.nodes.map(({ name }) => [name, createCompiler({ node: name })]));

function compileAll(cluster: Cluster): Compilers {
  const compilers = createCompilers(cluster);
  for (const compiler of compilers.values()) compiler.apply(changesOf(cluster));
  return compilers;
}

function findDifferences(
  cluster: Cluster,
  compilers: Compilers,
  connections: readonly Connection[],
): string[] {
  const look = makeInspection(compilers);
  return connections.flatMap((connection) => [
    ...comparePods(cluster, compilers, connection),
    ...compareHosts(cluster, compilers, connection),
    ...comparePath(cluster, look, connection),
  ]);
}

type Inspection = (side: Side) => PodInspection | undefined;

/** Any node knows what applies to every pod; asked once for each. */
function makeInspection(compilers: Compilers): Inspection {
  const [compiler] = compilers.values();
  const seen = new Map<string, PodInspection | undefined>();
  return ({ pod }) => {
    if (pod === undefined) return undefined;
    const key = `${pod.namespace}/${pod.name}`;
    if (!seen.has(key)) seen.set(key, compiler!.inspect(key));
    return seen.get(key);
  };
}

function comparePods(cluster: Cluster, compilers: Compilers, connection: Connection): string[] {
  const packet = resolvePacket(cluster, connection);
  if (packet === undefined) return [];
  const evaluation = evaluate(cluster, connection);
  return directions.flatMap((direction) => {
    const { pod } = direction === 'egress' ? packet.source : packet.destination;
    const why = evaluation[direction];
    if (pod === undefined || !isDecided(why.reason)) return [];
    const { state } = compilers.get(pod.node)!;
    const endpoint = state.endpoints.get(`${pod.namespace}/${pod.name}`);
    const verdict =
      endpoint === undefined ? 'no endpoint' : decideCompiled(state, endpoint, direction, packet);
    const question = `${JSON.stringify(connection)} ${direction}`;
    return verdict === why.verdict ? [] : [`${question}: ${verdict}, evaluator ${JSON.stringify(why)}`];
  });
}

function compareHosts(cluster: Cluster, compilers: Compilers, connection: Connection): string[] {
  const packet = resolvePacket(lendLabels(cluster), connection);
  if (packet === undefined) return [];
  return cluster.objects.filter(isHostEndpoint).flatMap((host) =>
    directions.flatMap((direction) => {
      const side = direction === 'egress' ? packet.source : packet.destination;
      if (side.node?.name !== host.spec.node) return [];
      const { state } = compilers.get(host.spec.node)!;
      const endpoint = state.endpoints.get(`*host/${host.metadata.name}`);
      const why = decideByHostEndpoint(packet, host, direction);
      const verdict =
        endpoint === undefined ? 'no endpoint' : decideCompiled(state, endpoint, direction, packet);
      const question = `host ${JSON.stringify(connection)} ${direction}`;
      return verdict === why.verdict ? [] : [`${question}: ${verdict}, evaluator ${JSON.stringify(why)}`];
    }),
  );
}

/** The whole way, as `policy explain` decides it, from what any one node knows. */
function comparePath(cluster: Cluster, inspect: Inspection, connection: Connection): string[] {
  const packet = resolvePacket(cluster, connection);
  const evaluation = evaluate(cluster, connection);
  const hasHosts = cluster.objects.some(isHostEndpoint);
  if (packet === undefined || hasHosts) return [];
  const { source, destination } = packet;
  const { verdict } = decidePath({
    connection: toConnection(packet),
    source: inspect(source),
    destination: inspect(destination),
    sourceNode: source.node?.name,
  });
  return verdict === evaluation.verdict
    ? []
    : [`path ${JSON.stringify(connection)}: ${verdict}, evaluator ${JSON.stringify(evaluation)}`];
}

const toConnection = ({ source, destination, protocol, icmp }: Packet): PacketConnection => ({
  source: source.address,
  destination: destination.address,
  protocol,
  sourcePort: source.port,
  destinationPort: destination.port,
  icmpType: icmp?.type,
  icmpCode: icmp?.code,
});

/** Of the cases' targets and peers these see most. */
const isOfTwoPods = ({ from, to }: Connection): boolean =>
  [from, to].every((party) => !('pod' in party) || ['x/a', 'y/b', 'x/b'].includes(party.pod));

it('in every case made by hand, step by step', () => {
  for (const { name, steps } of cases) {
    const compilers = createCompilers(standardCluster());
    let before: Cluster = { objects: [], pods: [], nodes: [] };
    for (const step of steps(standardCluster())) {
      const cluster = applyStep(standardCluster(), step);
      for (const compiler of compilers.values()) compiler.apply(difference(before, cluster));
      before = cluster;
      const differences = findDifferences(cluster, compilers, listConnections(cluster).filter(isOfTwoPods));
      expect({ name, differences }).toEqual({ name, differences: [] });
    }
  }
});

const families: readonly PolicyFamily[] = ['kubernetes', 'admin', 'calico', 'mixed'];
const small = { namespaces: 2, podsPerNamespace: 2, nodes: 2 };

describe.each(families)('family %s', (family) => {
  it('in random clusters', () => {
    const scenario = arbitraryCluster(small).chain((cluster) =>
      arbitraryPolicies(cluster, family, 4).map((objects) => ({ ...cluster, objects })),
    );
    fc.assert(
      fc.property(scenario, (cluster) => {
        expect(findDifferences(cluster, compileAll(cluster), listConnections(cluster)).slice(0, 3)).toEqual(
          [],
        );
      }),
      { numRuns: runs(25) },
    );
  });

  it('after any changes, as from nothing', () => {
    const scenario = arbitraryCluster(small).chain((cluster) =>
      fc.tuple(
        arbitraryPolicies(cluster, family, 3).map((objects) => ({ ...cluster, objects })),
        fc.array(arbitraryChange(cluster, family, small), { minLength: 1, maxLength: 8 }),
      ),
    );
    fc.assert(
      fc.property(scenario, ([start, changes]) => {
        followChanges(
          start,
          changes.map((change) => (cluster) => applyChange(cluster, change)),
        );
      }),
      { numRuns: runs(40) },
    );
  });
});

/** One compiler that sees every change, and at each step one that sees the outcome only. */
function followChanges(start: Cluster, changes: readonly ((cluster: Cluster) => Cluster)[]): void {
  for (const { name } of start.nodes) {
    const compiler = createCompiler({ node: name });
    const mirror = new Mirror();
    mirror.take(compiler.apply(changesOf(start)));
    let cluster = start;
    for (const change of changes) {
      const next = change(cluster);
      mirror.take(compiler.apply(difference(cluster, next)));
      cluster = next;
      expectSame(cluster, name, compiler, mirror);
    }
  }
}

function expectSame(cluster: Cluster, node: string, compiler: PolicyCompiler, mirror: Mirror): void {
  const fresh = createCompiler({ node });
  fresh.apply(changesOf(cluster));
  expect(canonical(compiler.state)).toEqual(canonical(fresh.state));
  expect(canonical(mirror)).toEqual(canonical(fresh.state));
}
