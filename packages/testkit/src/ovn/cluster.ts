/** Nodes of OVN with one central part, joined by a bridge. */
import { type ClusterHosts, createClusterHosts } from '../cluster.js';
import { OvnCentral } from './central.js';
import { OvnNode, type OvnNodeOptions } from './node.js';

export interface OvnClusterOptions extends Pick<OvnNodeOptions, 'encapsulation'> {
  /** Part of the namespaces' names; letters, digits and dashes. */
  readonly name: string;
  /** How many: `n1`, `n2` and so on. */
  readonly nodes: number;
}

export class OvnCluster {
  readonly central: OvnCentral;
  readonly nodes: readonly OvnNode[];
  readonly #hosts: ClusterHosts;

  private constructor(central: OvnCentral, hosts: ClusterHosts, nodes: readonly OvnNode[]) {
    this.central = central;
    this.nodes = nodes;
    this.#hosts = hosts;
  }

  static async start({ name, nodes: count, ...options }: OvnClusterOptions): Promise<OvnCluster> {
    const central = await OvnCentral.start();
    const hosts = await createClusterHosts({ name, hosts: count }).catch(async (error: unknown) => {
      await central.close();
      throw error;
    });
    const nodes: OvnNode[] = [];
    const cluster = new OvnCluster(central, hosts, nodes);
    try {
      for (const host of hosts.hosts)
        nodes.push(await OvnNode.start({ ...options, name: `n${nodes.length + 1}`, host, central }));
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    for (const node of this.nodes) await node.close();
    await this.#hosts.close();
    await this.central.close();
  }
}
