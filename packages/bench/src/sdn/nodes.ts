/** One node of the model sdn and one of the model routed, both in a cluster: real agents, etcd and Open vSwitch. */
import { keysBelow } from '@podwire/cluster-state';
import { type AnyObject, encodeStoredObject, objectKey, referenceOf } from '@podwire/objects';
import type { Etcd } from '@podwire/testkit/etcd';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';
import { type Candidate, inNamespace, podwireCandidate } from '../candidates.js';
import { type Member, type Members, startMembers } from '../cluster/members.js';

/** The namespace of all pods. */
const project = 'shop';

/** There is no kernel module to rely on. */
export const sdnOptions = {
  clusterNetworks: ['10.128.0.0/14'],
  serviceNetwork: '172.30.0.0/16',
  mode: 'multitenant',
  datapath: 'netdev',
} as const;

const objects: readonly (AnyObject & Record<string, unknown>)[] = [
  {
    ...{ apiVersion: 'network.openshift.io/v1', kind: 'ClusterNetwork', metadata: { name: 'default' } },
    clusterNetworks: [{ CIDR: sdnOptions.clusterNetworks[0], hostSubnetLength: 9 }],
    ...{ serviceNetwork: sdnOptions.serviceNetwork, pluginName: 'redhat/openshift-ovs-multitenant' },
  },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: project } },
];

export interface BenchNode extends Member {
  close(): Promise<void>;
}

/** @param agent its command line up to `--config FILE` */
export async function startSdnNode(agent: readonly string[]): Promise<BenchNode> {
  const networks = [{ name: 'default', model: 'sdn', options: sdnOptions }];
  return firstOf(
    await startMembers({
      ...{ name: 'sdn', nodes: 1, agent, pools: [] },
      async prepare(host, _, { etcd }) {
        // A node is ready when it has its subnet.
        for (const object of objects) await put(etcd, object);
        const own = await OpenVSwitch.start(host.namespace);
        host.defer(() => own.close());
        return { networks, openvswitch: { runDir: own.runDir } };
      },
    }),
  );
}

/** Its block is large enough that no other one is claimed meanwhile. */
export async function startRoutedNode(agent: readonly string[]): Promise<BenchNode> {
  const pools = [{ name: 'all', cidr: '10.62.0.0/16', blockSize: 22 }];
  return firstOf(await startMembers({ name: 'routed', nodes: 1, agent, pools }));
}

const firstOf = (all: Members): BenchNode => ({ ...all.members[0]!, close: () => all.close() });

async function put(etcd: Etcd, object: AnyObject): Promise<void> {
  const { root } = keysBelow('/podwire');
  await etcd.control(['put', objectKey(root, referenceOf(object)), encodeStoredObject(object, undefined, 0)]);
}

/** Pods are in the project that the node begins with. */
export const sdnCandidate = ({ host, agent }: BenchNode, binDir: string): Candidate => ({
  ...inNamespace(podwireCandidate(host, false, binDir, agent), project),
  ...{ name: 'sdn', title: 'podwire, model sdn' },
});
