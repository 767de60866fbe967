/** Ports and switches of the logical network, as far as a packet's way through it begins and ends there. Pure. */
import { gatewayMac, JOIN_SUBNET, nodePortName, type OvnFacts, podPortName } from '@podwire/cluster-ovn';

export interface LogicalPlaces {
  /** By the names of their subnets. */
  readonly switches: readonly LogicalSwitch[];
  readonly ports: readonly LogicalPort[];
}

export interface LogicalSwitch {
  readonly name: string;
  readonly isPrivate: boolean;
  /** Of its router's port; absent where the gateway is no router of OVN. */
  readonly gatewayMac?: string;
}

export interface LogicalPort {
  /** As OVN has it: `web.shop`, `node-n1`. */
  readonly name: string;
  readonly switch: string;
  readonly mac: string;
  /** One of each family at most. */
  readonly addresses: readonly string[];
  /** NAMESPACE/NAME; absent for the end of a node. */
  readonly pod?: string;
  /** Absent while a pod has none. */
  readonly node?: string;
}

export function listPlaces({ subnets, vpcs, nodes, pods }: OvnFacts): LogicalPlaces {
  const ofNodes = [...nodes].map(([node, { mac, joinAddresses: addresses }]) => ({
    ...{ name: nodePortName(node), switch: JOIN_SUBNET, mac, addresses, node },
  }));
  const ofPods = [...pods].map(([pod, { namespace, name, subnet, node, mac, addresses }]) => ({
    ...{ name: podPortName(namespace, name), switch: subnet, mac, addresses, pod },
    ...(node === undefined ? {} : { node }),
  }));
  const switches = [...subnets].map(([name, { vpc, underlay, allowedRanges }]) => ({
    ...{ name, isPrivate: allowedRanges !== undefined },
    ...(underlay === undefined && vpcs.has(vpc) ? { gatewayMac: gatewayMac(name, vpc) } : {}),
  }));
  return { switches, ports: [...ofNodes, ...ofPods] };
}
