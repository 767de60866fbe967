/** Clusters whose pods are to have addresses, and the changes of plans carried out on them. */
import {
  type AddressPlan,
  annotationNames,
  type IpObject,
  type NodeObject,
  type OvnChange,
  type OvnCluster,
  planAddresses,
  type PodObject,
  type PodSubnet,
  type SubnetCursors,
} from '@podwire/cluster-ovn';

export const blue: PodSubnet = {
  ...{ name: 'blue', vpc: 'ovn-cluster', isDefault: true, namespaces: [], excludeIps: [] },
  ranges: [{ cidr: '10.17.0.0/29', gateway: '10.17.0.1' }],
};

export const join: PodSubnet = {
  ...{ name: 'join', vpc: 'ovn-cluster', isDefault: false, namespaces: [], excludeIps: [] },
  ranges: [{ cidr: '100.64.0.0/29', gateway: '100.64.0.1' }],
};

export const podOf = (id: string, rest: Partial<PodObject> = {}): PodObject => {
  const [namespace, name] = id.split('/') as [string, string];
  return { namespace, name, uid: `uid of ${id}`, annotations: {}, hasEnded: false, ...rest };
};

/** @param asked by the short names of annotations */
export const asking = (asked: Partial<Record<keyof typeof annotationNames, string>>) =>
  Object.fromEntries(
    Object.entries(asked).map(([key, value]) => [
      annotationNames[key as keyof typeof annotationNames],
      value,
    ]),
  );

export const clusterOf = (parts: Partial<OvnCluster>): OvnCluster => ({
  ...{
    subnets: [blue, join],
    unreadableSubnets: [],
    pods: [],
    nodes: [],
    ips: [],
    statefulSets: [],
    encapsulation: 'geneve',
  },
  ...parts,
});

export interface Outcome {
  readonly cluster: OvnCluster;
  readonly cursors: SubnetCursors;
  readonly plan: AddressPlan;
}

/** Plans, and carries the plan out. */
export function settle(cluster: OvnCluster, cursors?: SubnetCursors): Outcome {
  const plan = planAddresses(cluster, cursors);
  return { cluster: plan.changes.reduce(apply, cluster), cursors: plan.cursors, plan };
}

function apply(cluster: OvnCluster, change: OvnChange): OvnCluster {
  switch (change.type) {
    case 'put-ip':
      return { ...cluster, ips: [...without(cluster.ips, change.ip.name), change.ip] };
    case 'delete-ip':
      return { ...cluster, ips: without(cluster.ips, change.name) };
    case 'annotate':
      return change.what === 'node' ? annotateNode(cluster, change) : annotatePod(cluster, change);
  }
}

const without = (ips: readonly IpObject[], gone: string): IpObject[] =>
  ips.filter(({ name }) => name !== gone);

type Annotate = Extract<OvnChange, { readonly type: 'annotate' }>;

const annotated = <T extends NodeObject | PodObject>(object: T, { annotations }: Annotate): T => ({
  ...object,
  annotations: { ...object.annotations, ...annotations },
});

const annotateNode = (cluster: OvnCluster, change: Annotate): OvnCluster => ({
  ...cluster,
  nodes: cluster.nodes.map((node) => (node.name === change.id ? annotated(node, change) : node)),
});

const annotatePod = (cluster: OvnCluster, change: Annotate): OvnCluster => ({
  ...cluster,
  pods: cluster.pods.map((pod) =>
    `${pod.namespace}/${pod.name}` === change.id && pod.uid === change.uid ? annotated(pod, change) : pod,
  ),
});

/** Pods with their addresses: `shop/web 10.17.0.2`. */
export const addressesOf = ({ pods }: OvnCluster): string[] =>
  pods.map(
    ({ namespace, name, annotations }) =>
      `${namespace}/${name} ${annotations[annotationNames.addresses] ?? '-'}`,
  );

export const problemsOf = ({ problems }: Pick<AddressPlan, 'problems'>): string[] =>
  problems.map(({ code, message }) => `${code} ${message}`);
