/** Objects of Kube-OVN that plans of a node read, and the facts that they give. */
import { parsePrefix } from '@podwire/addresses';
import type { ObjectFacts } from '@podwire/network-contract';
import { annotationNames, ipAnnotations } from '@podwire/objects/kube-ovn-names';
import { compact } from '@podwire/platform';
import { type Rates, readRates } from './annotations.js';
import type { GatewaySubnet } from './gateway/facts.js';

/** An IP object: the addresses that the controller has given to a pod or a node. */
export interface IpFact {
  readonly subnet: string;
  /** Without length; IPv4 first. */
  readonly addresses: readonly string[];
  readonly mac: string;
  /** Of the pod that they were given to, and no other under its name. */
  readonly podUid?: string;
  /** Absent where its annotations have none. */
  readonly rates?: Rates;
  /** Present where its annotations ask for a mirror. */
  readonly isMirrored?: true;
}

export interface SubnetRange {
  /** ADDRESS/LENGTH */
  readonly cidr: string;
  readonly length: number;
  readonly gateway: string;
}

export interface SubnetFact {
  /** At most one of each family, IPv4 first. */
  readonly ranges: readonly SubnetRange[];
  /** False where gateways need not answer. */
  readonly checksGateway: boolean;
  /** Of its pods, in bytes; absent: that of the network. */
  readonly mtu?: number;
  /** The way out through nodes; absent for subnets with VLAN and of other VPCs, whose packets pass no node. */
  readonly exit?: Pick<GatewaySubnet, 'through' | 'outgoing'>;
}

/** A ProviderNetwork that a node has. */
export interface ProviderFact {
  /** The interface of each node that {@link custom} does not name. */
  readonly interface: string;
  readonly custom: readonly { readonly interface: string; readonly nodes: readonly string[] }[];
  /** Milliseconds since 1970. Absent in facts that an earlier version of Podwire has kept. */
  readonly created?: number;
}

declare module '@podwire/planner' {
  interface FactKinds {
    /** ProviderNetworks that this node is not excluded from. */
    'ovn-provider-network': ProviderFact | undefined;
    'ovn-provider-networks': ReadonlySet<string>;
    /** By the logical port, of pods and nodes whose IP object names this node: `web.shop`, `node-one`. */
    'ovn-ip': IpFact | undefined;
    'ovn-node-subnet': SubnetFact | undefined;
    'ovn-node-subnets': ReadonlySet<string>;
  }
}

/** The parts that are read here. Their schemas have checked them. */
interface IpObject {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly subnet: string;
    readonly ipAddress: string;
    readonly macAddress: string;
    readonly nodeName: string;
  };
}

interface SubnetObject {
  readonly spec: {
    readonly cidrBlock: string;
    readonly gateway: string;
    readonly disableGatewayCheck: boolean;
    readonly mtu?: number;
    readonly vpc: string;
    readonly vlan: string;
    readonly gatewayType: 'distributed' | 'centralized';
    readonly gatewayNode: string;
    readonly natOutgoing: boolean;
    readonly externalEgressGateway: string;
    readonly policyRoutingPriority?: number;
    readonly policyRoutingTableID?: number;
  };
}

interface ProviderNetworkObject {
  readonly spec: {
    readonly defaultInterface: string;
    readonly customInterfaces: readonly { readonly interface: string; readonly nodes: readonly string[] }[];
    readonly excludeNodes: readonly string[];
  };
}

const apiVersion = 'kubeovn.io/v1';
const defaultVpc = 'ovn-cluster';

export const objects: readonly ObjectFacts[] = [
  {
    ...{ fact: 'ovn-ip', apiVersion, kind: 'IP' },
    isOfNode: ({ spec }: IpObject, node) => spec.nodeName === node,
    read({ metadata: { annotations = {} }, spec }: IpObject): IpFact {
      const podUid = annotations[ipAnnotations.podUid];
      const { subnet, ipAddress, macAddress: mac } = spec;
      const rates = readRates(annotations);
      return {
        ...{ subnet, addresses: ipAddress.split(','), mac },
        ...(podUid === undefined ? {} : { podUid }),
        ...(Object.keys(rates).length === 0 ? {} : { rates }),
        ...(annotations[annotationNames.mirror] === 'true' ? { isMirrored: true } : {}),
      };
    },
  },
  {
    ...{ fact: 'ovn-node-subnet', names: 'ovn-node-subnets', apiVersion, kind: 'Subnet' },
    read: ({ spec }: SubnetObject): SubnetFact => ({
      ranges: readRanges(spec),
      checksGateway: !spec.disableGatewayCheck,
      ...compact({ mtu: spec.mtu }),
      ...(spec.vpc === defaultVpc && spec.vlan === '' ? { exit: readExit(spec) } : {}),
    }),
  },
  {
    ...{ fact: 'ovn-provider-network', names: 'ovn-provider-networks', apiVersion, kind: 'ProviderNetwork' },
    isOfNode: ({ spec: { excludeNodes } }: ProviderNetworkObject, node) => !excludeNodes.includes(node),
    read: ({ spec }: ProviderNetworkObject, created): ProviderFact => ({
      interface: spec.defaultInterface,
      custom: spec.customInterfaces,
      created,
    }),
  },
];

function readRanges({ cidrBlock, gateway }: SubnetObject['spec']): SubnetRange[] {
  const gateways = gateway.split(',');
  return cidrBlock
    .split(',')
    .map((cidr, at) => ({ cidr, length: parsePrefix(cidr).length, gateway: gateways[at]! }));
}

function readExit(spec: SubnetObject['spec']): NonNullable<SubnetFact['exit']> {
  const outgoing = readOutgoing(spec);
  return {
    through: spec.gatewayType === 'distributed' ? 'distributed' : readGatewayNodes(spec),
    ...(outgoing === undefined ? {} : { outgoing }),
  };
}

/** `n1,n2`, or `n1:192.168.1.10` with the source of packets. */
const readGatewayNodes = ({ gatewayNode }: SubnetObject['spec']): Exclude<GatewaySubnet['through'], string> =>
  gatewayNode
    .split(',')
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [node = '', ...address] = entry.trim().split(':');
      return address.length === 0 ? { node } : { node, address: address.join(':') };
    });

function readOutgoing(spec: SubnetObject['spec']): GatewaySubnet['outgoing'] {
  const {
    natOutgoing,
    externalEgressGateway,
    policyRoutingTableID: table,
    policyRoutingPriority: priority,
  } = spec;
  if (externalEgressGateway !== '' && table !== undefined && priority !== undefined)
    return { addresses: externalEgressGateway.split(','), table, priority };
  return natOutgoing ? 'nat' : undefined;
}
