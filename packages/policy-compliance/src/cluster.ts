import type { InputChange, PodFact } from '@podwire/policy';
import { type Cluster, type Connection, evaluate } from '@podwire/policy-evaluator';
import { type Crossing, listCrossings, makeJourney } from './journeys.js';

/** A node whose packet filter is what was rendered, and nothing else. */
export interface PolicedNode {
  /** As the agent does it: pods have their place from the moment that they are known. */
  take(changes: readonly InputChange[], pods: readonly PodFact[]): void;
  /** True if the first packet of a connection gets through the node. */
  lets(crossing: Crossing): boolean | Promise<boolean>;
  /** Resources that are there, as the deltas add up to them, and those that the renderer wants. */
  readonly present: readonly unknown[];
  readonly wanted: readonly unknown[];
}

export class PolicedCluster {
  readonly nodes: ReadonlyMap<string, PolicedNode>;

  constructor(names: readonly string[], make: (name: string) => PolicedNode) {
    this.nodes = new Map(names.map((name) => [name, make(name)]));
  }

  take(changes: readonly InputChange[], pods: readonly PodFact[]): void {
    for (const node of this.nodes.values()) node.take(changes, pods);
  }

  /** Connections whose first packet goes another way than the evaluator says, in words. */
  async findDifferences(cluster: Cluster, connections: readonly Connection[]): Promise<string[]> {
    const differences: string[] = [];
    for (const connection of connections) {
      const evaluation = evaluate(cluster, connection);
      if (evaluation.egress.reason === 'itself') continue;
      const verdict = (await this.#arrives(cluster, connection)) ? 'allow' : 'deny';
      if (verdict !== evaluation.verdict)
        differences.push(
          `${JSON.stringify(connection)}: ${verdict}, evaluator ${JSON.stringify(evaluation)}`,
        );
    }
    return differences;
  }

  async #arrives(cluster: Cluster, connection: Connection): Promise<boolean> {
    for (const crossing of listCrossings(makeJourney(cluster, connection)))
      if (!(await this.nodes.get(crossing.node)!.lets(crossing))) return false;
    return true;
  }
}
