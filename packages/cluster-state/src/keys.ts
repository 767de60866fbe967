/** The key of each object. `root` ends without a slash: `/podwire`. */

/** A prefix as part of a key: `10.244.0.0/26` is `10.244.0.0-26`. */
const slug = (cidr: string): string => cidr.replace('/', '-');

export interface Keys {
  readonly root: string;
  pool(name: string): string;
  block(cidr: string): string;
  /** One for each node that has addresses of the block: its owner and the borrowers. */
  allocationRecord(cidr: string, node: string): string;
  node(name: string): string;
  nodeLease(node: string): string;
  unreachable(node: string): string;
  workload(network: string, namespace: string, name: string): string;
  borrowRequest(block: string, node: string, id: string): string;
  /** Facts of a pod that policy needs; written by the agent of its node. */
  podFacts(node: string, namespace: string, name: string): string;
  /** The folder of all of a node. */
  podFactsOf(node: string): string;
  /** Which policies are in force on the node. */
  policyStatus(node: string): string;
  /** A pod that is to have addresses of Kube-OVN. */
  ovnPod(namespace: string, name: string): string;
  /** The lock of the controllers' leader election. */
  readonly leader: string;
  /**
   * Written with every change of pools, so that two overlapping ones cannot be created at the same time; and with every change of
   * workloads, so that no two get the same address, and none a pool that is being deleted.
   */
  readonly poolsGeneration: string;
  /** Written with every VNID and every subnet of OpenShift SDN that is handed out or comes back, so that none has two owners. */
  readonly sdnGeneration: string;
  /** The lock of the leader election of those controllers that write OVN's northbound database. */
  readonly ovnLeader: string;
  /** Written with every address of Kube-OVN that is handed out or comes back, so that none has two owners. */
  readonly ovnGeneration: string;
}

/** The folders of the store; their names are older than those used here. Every node watches `shared`. */
export const folders = {
  pools: 'shared/pools/',
  blocks: 'shared/blocks/',
  nodes: 'shared/nodes/',
  workloads: 'shared/workloads/',
  borrowRequests: 'shared/loan-requests/',
  allocationRecords: 'ledgers/',
  nodeLeases: 'presences/',
  unreachable: 'absences/',
  /** Objects that people apply: `@podwire/objects` names what is in it. */
  objects: 'objects/',
  podFacts: 'pod-facts/',
  policyStatus: 'policy-status/',
  ovnPods: 'ovn-pods/',
} as const;

export function keysBelow(root: string): Keys {
  const at = (folder: keyof typeof folders, ...parts: readonly string[]): string =>
    `${root}/${folders[folder]}${parts.join('/')}`;
  return {
    root,
    pool: (name) => at('pools', name),
    block: (cidr) => at('blocks', slug(cidr)),
    allocationRecord: (cidr, node) => at('allocationRecords', slug(cidr), node),
    node: (name) => at('nodes', name),
    nodeLease: (node) => at('nodeLeases', node),
    unreachable: (node) => at('unreachable', node),
    workload: (network, namespace, name) => at('workloads', network, namespace, name),
    borrowRequest: (block, node, id) => at('borrowRequests', slug(block), node, id),
    podFactsOf: (node) => `${at('podFacts', node)}/`,
    podFacts: (node, namespace, name) => at('podFacts', node, namespace, name),
    policyStatus: (node) => at('policyStatus', node),
    ovnPod: (namespace, name) => at('ovnPods', namespace, name),
    leader: `${root}/leader`,
    poolsGeneration: `${root}/pools-generation`,
    sdnGeneration: `${root}/sdn-generation`,
    ovnLeader: `${root}/ovn-leader`,
    ovnGeneration: `${root}/ovn-generation`,
  };
}
