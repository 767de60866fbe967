/** Objects as plans read them, and back. Pure. */
import { defaultVpc, type IP, parseGatewayNodes, type Subnet, type Vpc } from '@podwire/objects';
import { ipAnnotations, parseRate } from '@podwire/objects/kube-ovn-names';
import { compact } from '@podwire/platform';
import type { Allocation } from '../allocation/subnet-addresses.js';
import type { Egress, OvnNode, OvnPod, OvnSubnet, OvnVpc, SubnetRange, Underlay } from '../contract.js';
import { annotationNames, readAllocation, selectPortAnnotations } from '../pods/annotations.js';
import type { IpObject, PodObject, PodSubnet } from '../pods/contract.js';
import type { OvnClusterNode } from './contract.js';

export const toVpc = ({ metadata: { name }, spec: { staticRoutes } }: Vpc): OvnVpc => ({
  isDefault: name === defaultVpc,
  staticRoutes,
});

const rangesOf = ({ spec: { cidrBlock, gateway } }: Subnet): SubnetRange[] => {
  const gateways = gateway.split(',');
  return cidrBlock.split(',').map((cidr, at) => ({ cidr, gateway: gateways[at]! }));
};

/** @param isReachable nodes for which it is false are no gateways for now */
export const toSubnet = (
  subnet: Subnet,
  underlay: Underlay | undefined,
  isReachable: (node: string) => boolean,
): OvnSubnet => ({
  ...{ vpc: subnet.spec.vpc, ranges: rangesOf(subnet), underlay },
  egress: readEgress(subnet, isReachable),
  allowedRanges: subnet.spec.private ? subnet.spec.allowSubnets : undefined,
});

const readEgress = (
  { spec: { gatewayType, gatewayNode } }: Subnet,
  isReachable: (node: string) => boolean,
): Egress =>
  gatewayType === 'distributed'
    ? { type: 'distributed' }
    : {
        type: 'centralized',
        nodes: parseGatewayNodes(gatewayNode)
          .map(({ node }) => node)
          .filter(isReachable),
      };

export const toPodSubnet = (subnet: Subnet, underlay: Underlay | undefined): PodSubnet => ({
  ...{ name: subnet.metadata.name, vpc: subnet.spec.vpc, ranges: rangesOf(subnet), underlay },
  excludeIps: subnet.spec.excludeIps,
  ...{ isDefault: subnet.spec.default, namespaces: subnet.spec.namespaces },
});

/** IPv4 first. */
export const addressesOf = ({ spec: { ipAddress } }: IP): string[] => ipAddress.split(',');

export function toIpObject(ip: IP): IpObject {
  const { name, annotations = {} } = ip.metadata;
  const { namespace, podName, subnet, macAddress: mac, nodeName } = ip.spec;
  return {
    ...{ name, namespace, podName, subnet, addresses: addressesOf(ip), mac },
    node: nodeName === '' ? undefined : nodeName,
    podUid: annotations[ipAnnotations.podUid],
    statefulSet: annotations[ipAnnotations.statefulSet],
    portAnnotations: selectPortAnnotations(annotations),
  };
}

/** Kube-OVN's own labels: its commands select by them. @returns what the schema of an IP reads */
export function fromIpObject(ip: IpObject): Readonly<Record<string, unknown>> {
  const { name, namespace, podName, subnet, addresses, mac, node, podUid, statefulSet } = ip;
  const annotations = {
    ...ip.portAnnotations,
    ...(podUid === undefined ? {} : { [ipAnnotations.podUid]: podUid }),
    ...(statefulSet === undefined ? {} : { [ipAnnotations.statefulSet]: statefulSet }),
  };
  return {
    ...{ apiVersion: 'kubeovn.io/v1', kind: 'IP' },
    metadata: { name, labels: { 'ovn.kubernetes.io/subnet': subnet, [subnet]: '' }, annotations },
    spec: {
      ...{ podName, namespace, subnet, ipAddress: addresses.join(','), macAddress: mac },
      nodeName: node ?? '',
    },
  };
}

export const toNode = (
  { addresses }: Pick<OvnClusterNode, 'addresses'>,
  { addresses: joinAddresses, mac, portAnnotations = {} }: Allocation & Pick<IpObject, 'portAnnotations'>,
): OvnNode => ({
  ...{ mac, joinAddresses, addresses },
  ...compact({
    ingressRate: readRate(portAnnotations[annotationNames.ingressRate]),
    egressRate: readRate(portAnnotations[annotationNames.egressRate]),
  }),
});

/** The pod in the logical network, once it has addresses. */
export function findPod(pod: PodObject): OvnPod | undefined {
  const held = pod.hasEnded ? undefined : readAllocation(pod.annotations);
  if (held === undefined) return undefined;
  const { namespace, name, node } = pod;
  const { subnet, mac, addresses } = held;
  const hasPortSecurity = pod.annotations[annotationNames.portSecurity] === 'true';
  const egressRate = readRate(pod.annotations[annotationNames.egressRate]);
  return { namespace, name, node, subnet, mac, addresses, hasPortSecurity, ...compact({ egressRate }) };
}

/** Undefined also for what is no rate. */
function readRate(text = ''): number | undefined {
  const rate = parseRate(text);
  return rate === 0 ? undefined : rate;
}
