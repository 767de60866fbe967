/** Two nodes of the model ovn: real agents, etcd, OVN and the controller. */
import path from 'node:path';
import type { EtcdSpec } from '@podwire/testkit/etcd';
import { cableOf, layCable, OvnCentral, OvnNode } from '@podwire/testkit/ovn';
import type { ClusterHost, RunningProcess } from '@podwire/testkit';
import { type Candidate, inNamespace, podwireCandidate } from '../candidates.js';
import { type Member, startMembers } from '../cluster/members.js';

export interface OvnCluster {
  readonly members: readonly Member[];
  readonly nodes: readonly OvnNode[];
  readonly central: OvnCentral;
  close(): Promise<void>;
}

/** The switch of pods whose namespace has none of its own, as the controller makes it. */
export const defaultSwitch = { name: 'ovn-default', gateway: '10.16.0.1', length: 16 };

/** There is no kernel module to rely on. */
const networks = [{ name: 'default', model: 'ovn', options: { datapath: 'netdev' } }];

/** @param agent its command line up to `--config FILE` */
export async function startOvnCluster(agent: readonly string[]): Promise<OvnCluster> {
  const central = await OvnCentral.start();
  const nodes: OvnNode[] = [];
  let prepared: Promise<void> | undefined;
  try {
    const started = await startMembers({
      ...{ name: 'ovn', nodes: 2, agent, pools: [] },
      async prepare(host, index, { hosts, etcd }) {
        await (prepared ??= prepareAll(hosts, { agent, store: etcd.spec, central }));
        const cable = cableOf(index);
        const node = await OvnNode.start({ name: `n${index + 1}`, host, central, cable });
        host.defer(() => node.close());
        nodes[index] = node;
        const [address] = cable.ipv4.split('/');
        return {
          ...{ networks, openvswitch: { runDir: node.switch.runDir } },
          cluster: { store: etcd.spec, address },
        };
      },
    });
    for (const node of nodes) await untilJoined(node);
    const close = (): Promise<void> => started.close().finally(() => central.close());
    return { members: started.members, nodes, central, close };
  } catch (error) {
    await central.close();
    throw error;
  }
}

async function prepareAll(
  hosts: readonly ClusterHost[],
  { agent, store, central }: Omit<ControllerOptions, 'host'>,
): Promise<void> {
  await layCable(hosts);
  const [host] = hosts;
  await startController({ host: host!, agent, store, central }).waitForOutput(/"msg":"leads"/);
}

export interface ControllerOptions {
  /** Where it runs, until that closes. */
  readonly host: Pick<ClusterHost, 'start'>;
  /** Command line of the agent, by the same executable. */
  readonly agent: readonly string[];
  readonly store: EtcdSpec;
  readonly central: OvnCentral;
}

export function startController({ host, agent, store, central }: ControllerOptions): RunningProcess {
  const endpoints = `etcd://${store.endpoints.map((each) => new URL(each).host).join(',')}`;
  const flags = ['--store', endpoints, '--northbound', central.northbound.endpoint];
  return host.start([path.resolve(agent[0]!), 'controller', ...flags]);
}

/** The gateway is there when ovn-controller has put in the flows of the node's own port. */
const untilJoined = (node: OvnNode): Promise<string> =>
  node.switch.vsctl('--timeout=60', 'wait-until', 'Interface', 'ovn0', 'external_ids:ovn-installed=true');

export const ovnCandidate = ({ host, agent }: Member, binDir: string): Candidate => ({
  ...inNamespace(podwireCandidate(host, false, binDir, agent), 'shop'),
  ...{ name: 'ovn', title: 'podwire, model ovn' },
});
