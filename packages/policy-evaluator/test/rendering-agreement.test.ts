/** The table that compiled policy becomes gives the verdicts of the evaluator, from nothing and after changes. */
import type { NftChain, NftElement, NftSet } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import { createPolicyRenderer, type LinkChange, type PolicyRenderer } from '@podwire/network-policy';
import { createInterpreter, type Interpreter, type RulePacket } from '@podwire/nftables/interpret';
import { createCompiler, type PolicyCompiler } from '@podwire/policy';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyChange,
  arbitraryChange,
  arbitraryCluster,
  arbitraryPolicies,
  listConnections,
  type PolicyFamily,
} from '../src/generate/index.js';
import { type Cluster, type Connection, evaluate } from '../src/index.js';
import { type Packet, resolvePacket } from '../src/packet.js';
import { changesOf, difference } from './inputs.js';
import { runs } from './runs.js';

const directions = ['egress', 'ingress'] as const;
type Direction = (typeof directions)[number];
const isDecided = (reason: string): boolean =>
  ['rule', 'end-of-tier', 'end-of-profiles', 'default'].includes(reason);

/** A node that follows a cluster. */
class RenderedNode {
  readonly name: string;
  readonly #compiler: PolicyCompiler;
  readonly #renderer: PolicyRenderer = createPolicyRenderer({ podLinkPrefixes: ['cali'], logGroup: 100 });
  #links: readonly string[] = [];

  constructor(name: string) {
    this.name = name;
    this.#compiler = createCompiler({ node: name });
  }

  take(changes: Parameters<PolicyCompiler['apply']>[0], cluster: Cluster): void {
    const pods = cluster.pods.filter(({ node, hostNetwork }) => node === this.name && hostNetwork !== true);
    const endpoints = pods.map(({ namespace, name }) => `${namespace}/${name}`);
    const gone = this.#links.filter((endpoint) => !endpoints.includes(endpoint));
    const links: LinkChange[] = [
      ...gone.map((endpoint) => ({ link: linkOf(endpoint), value: undefined })),
      ...endpoints.map((endpoint) => {
        const link = linkOf(endpoint);
        return { link, value: { link, endpoint, addresses: [] } };
      }),
    ];
    this.#links = endpoints;
    // A forwarded packet passes host endpoints as well, and the evaluator has only a node's own traffic of them.
    const ofPods = changes.filter(({ topic }) => topic !== 'host-endpoint');
    this.#renderer.apply(this.#compiler.apply(ofPods), links);
  }

  interpret(): Interpreter {
    const of = <K extends Resource['kind']>(kind: K) =>
      this.#renderer.resources.filter((one): one is Extract<Resource, { kind: K }> => one.kind === kind);
    return createInterpreter({
      chains: of('nft-chain').map(({ chain }: NftChain) => chain),
      sets: of('nft-set').map(({ set }: NftSet) => set),
      elements: of('nft-element').map(({ set, key, chain }: NftElement) => ({
        ...{ set, key },
        ...(chain === undefined ? {} : { verdict: { verdict: 'goto' as const, chain } }),
      })),
    });
  }
}

const linkOf = (endpoint: string): string => `cali ${endpoint}`;

/** The other end is on another node: each direction is asked for alone. */
function toRulePacket(
  { source, destination, protocol, icmp }: Packet,
  side: Direction,
  link: string,
): RulePacket {
  return {
    ...{ source: source.address, destination: destination.address, protocol, icmp, state: 'new' },
    ...{ sourcePort: source.port, destinationPort: destination.port },
    ...(side === 'egress' ? { inLink: link, outLink: 'eth0' } : { inLink: 'eth0', outLink: link }),
  };
}

function findDifferences(
  cluster: Cluster,
  nodes: readonly RenderedNode[],
  connections: readonly Connection[],
): string[] {
  const tables = new Map(nodes.map((node) => [node.name, node.interpret()]));
  return connections.flatMap((connection) => {
    const packet = resolvePacket(cluster, connection);
    if (packet === undefined) return [];
    const evaluation = evaluate(cluster, connection);
    return directions.flatMap((direction) => {
      const { pod } = direction === 'egress' ? packet.source : packet.destination;
      const why = evaluation[direction];
      if (pod === undefined || !isDecided(why.reason)) return [];
      const link = linkOf(`${pod.namespace}/${pod.name}`);
      const outcome = tables.get(pod.node)!.run('forward', toRulePacket(packet, direction, link));
      const expected = why.verdict === 'allow' ? 'accept' : 'drop';
      if (outcome.verdict === expected) return [];
      return [
        `${JSON.stringify(connection)} ${direction}: ${JSON.stringify(outcome)}, ${JSON.stringify(why)}`,
      ];
    });
  });
}

const start = (cluster: Cluster): RenderedNode[] =>
  cluster.nodes.map(({ name }) => {
    const node = new RenderedNode(name);
    node.take(changesOf(cluster), cluster);
    return node;
  });

const families: readonly PolicyFamily[] = ['kubernetes', 'admin', 'calico', 'mixed'];
const small = { namespaces: 2, podsPerNamespace: 2, nodes: 2 };

describe.each(families)('family %s', (family) => {
  it('in random clusters, and after each change', () => {
    const scenario = arbitraryCluster(small).chain((cluster) =>
      fc.tuple(
        arbitraryPolicies(cluster, family, 4).map((objects) => ({ ...cluster, objects })),
        fc.array(arbitraryChange(cluster, family, small), { maxLength: 3 }),
      ),
    );
    fc.assert(
      fc.property(scenario, ([first, changes]) => {
        const nodes = start(first);
        let cluster: Cluster = first;
        expect(findDifferences(cluster, nodes, listConnections(cluster)).slice(0, 3)).toEqual([]);
        for (const change of changes) {
          const next = applyChange(cluster, change);
          for (const node of nodes) node.take(difference(cluster, next), next);
          cluster = next;
          expect(findDifferences(cluster, nodes, listConnections(cluster)).slice(0, 3)).toEqual([]);
        }
      }),
      { numRuns: runs(10) },
    );
  });
});
