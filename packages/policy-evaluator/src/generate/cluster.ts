/** Small clusters: pods with labels in namespaces with labels, on nodes, with addresses of both families, and services. */
import fc from 'fast-check';
import type { Cluster, Labels, Namespace, Node, Pod, Service } from '../cluster.js';

export interface ClusterSize {
  readonly namespaces: number;
  readonly podsPerNamespace: number;
  readonly nodes: number;
}

export const standardSize: ClusterSize = { namespaces: 3, podsPerNamespace: 3, nodes: 2 };

const podLabelValues: Readonly<Record<string, readonly string[]>> = {
  app: ['web', 'db', 'cache'],
  tier: ['front', 'back'],
};
const namespaceLabelValues: Readonly<Record<string, readonly string[]>> = {
  team: ['red', 'blue'],
  stage: ['prod', 'dev'],
};
const nodeLabelValues: Readonly<Record<string, readonly string[]>> = { zone: ['a', 'b'] };

const arbitraryLabels = (values: Readonly<Record<string, readonly string[]>>): fc.Arbitrary<Labels> =>
  fc
    .record(
      Object.fromEntries(
        Object.entries(values).map(([key, list]) => [key, fc.constantFrom(undefined, ...list)]),
      ),
    )
    .map(
      (labels) =>
        Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== undefined)) as Labels,
    );

export const arbitraryPodLabels = (): fc.Arbitrary<Labels> => arbitraryLabels(podLabelValues);
export const arbitraryNamespaceLabels = (): fc.Arbitrary<Labels> => arbitraryLabels(namespaceLabelValues);
export const arbitraryNodeLabels = (): fc.Arbitrary<Labels> => arbitraryLabels(nodeLabelValues);

/** The same name may stand for another port in another pod, and for one port of each protocol. */
export const arbitraryPorts = (): fc.Arbitrary<Pod['ports']> =>
  fc.subarray(
    [
      { name: 'http', protocol: 'tcp', port: 80 },
      { name: 'http', protocol: 'tcp', port: 81 },
      { name: 'dns', protocol: 'udp', port: 80 },
      { name: 'dns', protocol: 'tcp', port: 81 },
      { name: 'sig', protocol: 'sctp', port: 81 },
    ] as const,
    { minLength: 1, maxLength: 4 },
  );

export function arbitraryCluster(size: ClusterSize = standardSize): fc.Arbitrary<Cluster> {
  const namespaces = fc.tuple(...repeat(size.namespaces, (index) => arbitraryNamespace(index)));
  const pods = fc.tuple(
    ...repeat(size.namespaces * size.podsPerNamespace, (index) => arbitraryPod(index, size)),
  );
  const nodes = fc.tuple(...repeat(size.nodes, (index) => arbitraryNode(index)));
  return fc
    .record({ objects: fc.constant([]), pods, namespaces, nodes })
    .chain((cluster) =>
      fc
        .tuple(...[0, 1].map((index) => arbitraryService(cluster.pods, index)))
        .map((services) => ({ ...cluster, services })),
    );
}

const repeat = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const arbitraryNamespace = (index: number): fc.Arbitrary<Namespace> =>
  arbitraryNamespaceLabels().map((labels) => ({ name: `ns${index}`, labels }));

export const nodeAddresses = (index: number): string[] => [
  `172.18.0.${index + 1}`,
  `fd18::${(index + 1).toString(16)}`,
];

const arbitraryNode = (index: number): fc.Arbitrary<Node> =>
  arbitraryNodeLabels().map((labels) => ({ name: `node${index}`, labels, addresses: nodeAddresses(index) }));

export function arbitraryPod(index: number, size: ClusterSize): fc.Arbitrary<Pod> {
  return fc
    .record({
      labels: arbitraryPodLabels(),
      ports: arbitraryPorts(),
      node: fc.nat({ max: size.nodes - 1 }),
      serviceAccount: fc.constantFrom(undefined, 'default', 'robot'),
      hostNetwork: fc.constantFrom(...repeat(15, () => false), true),
    })
    .map(({ node, serviceAccount, hostNetwork, ...rest }) => ({
      ...rest,
      namespace: `ns${index % size.namespaces}`,
      name: `pod${index}`,
      node: `node${node}`,
      addresses: hostNetwork ? nodeAddresses(node) : podAddresses(node, index),
      ...(serviceAccount !== undefined && { serviceAccount }),
      ...(hostNetwork && { hostNetwork }),
    }));
}

const podAddresses = (node: number, index: number): string[] => [
  `10.244.${node}.${index + 10}`,
  `fd44:0:0:${(node + 1).toString(16)}::${(index + 16).toString(16)}`,
];

function arbitraryService(pods: readonly Pod[], index: number): fc.Arbitrary<Service> {
  const ports = fc.subarray(
    [
      { protocol: 'tcp', port: 80 },
      { protocol: 'udp', port: 81 },
    ] as const,
    { minLength: 1 },
  );
  return fc.tuple(fc.subarray([...pods], { minLength: 1, maxLength: 3 }), ports).map(([members, list]) => ({
    namespace: 'ns0',
    name: `service${index}`,
    endpoints: members.map(({ addresses }) => ({ addresses, ports: list })),
  }));
}
