/** The logical port of a pod, as the controller has made it. */
import { familyOf } from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import type { AssignedAddresses, Attachment, NetworkView, PodIdentity } from '@podwire/network-contract';
import { annotationNames } from '@podwire/objects/kube-ovn-names';
import type { Read } from '@podwire/planner';
import { compact } from '@podwire/platform';
import { askFor, type Rates, writeRates } from '../annotations.js';
import { readNode } from '../node/read-node.js';
import type { IpFact, SubnetFact } from '../objects.js';

export interface LogicalPort {
  /** `POD.NAMESPACE`: the `iface-id` of its interface. */
  readonly name: string;
  readonly subnet: string;
  readonly mac: string;
  /** One of each family that the pod has, IPv4 first. */
  readonly addresses: readonly PortAddress[];
  /** Gateways have to answer before the pod is ready. */
  readonly checksGateway: boolean;
  /** Of its link, in bytes; absent: that of the network. */
  readonly mtu?: number;
  /** As annotations have them. Absent where they have none. */
  readonly rates?: Rates;
  /** The mirror of the node gets what is sent to it. */
  readonly isMirrored?: true;
  /** Absent for pods whose packets never pass a node. */
  readonly exit?: NonNullable<SubnetFact['exit']>;
}

export interface PortAddress {
  /** Without length. */
  readonly address: string;
  readonly length: number;
  readonly gateway: string;
}

declare module '@podwire/network-contract' {
  interface Attachment {
    /** Of the model ovn. */
    readonly port?: LogicalPort;
  }
}

/**
 * @throws PodwireError POD_UNALLOCATED while the pod has no addresses; REQUEST_INVALID for a pod without namespace, name or UID
 */
export function resolve(pod: PodIdentity, { name: network }: NetworkView, read: Read): Attachment {
  const { namespace, name, uid } = pod;
  if (namespace === undefined || name === undefined || uid === undefined) {
    const message = `K8S_POD_NAMESPACE, K8S_POD_NAME and K8S_POD_UID must be given: pods of network ${network} get their addresses by them`;
    throw new PodwireError('REQUEST_INVALID', message);
  }
  const port = `${name}.${namespace}`;
  const ip = read(`ovn-ip/${port}`);
  const subnet = ip === undefined ? undefined : read(`ovn-node-subnet/${ip.subnet}`);
  if (ip?.podUid !== uid || subnet === undefined)
    throw unallocated(`no address allocated to pod ${namespace}/${name} yet`);
  if (subnet.exit !== undefined && readNode(read) === undefined)
    throw unallocated(`no address allocated to this node yet, for pod ${namespace}/${name} to leave by`);
  return { port: describePort(port, ip, subnet) };
}

const unallocated = (message: string): PodwireError => new PodwireError('POD_UNALLOCATED', message);

const describePort = (name: string, ip: IpFact, subnet: SubnetFact): LogicalPort => ({
  ...{ name, subnet: ip.subnet, mac: ip.mac, checksGateway: subnet.checksGateway },
  ...compact({ exit: subnet.exit, mtu: subnet.mtu, rates: ip.rates, isMirrored: ip.isMirrored }),
  addresses: ip.addresses.flatMap((address) => {
    const range = subnet.ranges.find(({ gateway }) => familyOf(gateway) === familyOf(address));
    return range === undefined ? [] : [{ address, length: range.length, gateway: range.gateway }];
  }),
});

export const assigned: AssignedAddresses = {
  ask: askFor,
  of: ({ port }) => port!.addresses.map(({ address }) => ({ address, pool: port!.subnet })),
  askFor: ({ port }) => ({
    [annotationNames.subnet]: port!.subnet,
    [annotationNames.addresses]: port!.addresses.map(({ address }) => address).join(','),
    [annotationNames.mac]: port!.mac,
    ...writeRates(port!.rates),
    ...(port!.isMirrored === true ? { [annotationNames.mirror]: 'true' } : {}),
  }),
  // Rates are what people have written, `10.0`; and a family that its subnet has not any more is left out.
  isAnswer({ port }, answer) {
    const given = answer[annotationNames.addresses]?.split(',') ?? [];
    const isSame =
      port!.subnet === answer[annotationNames.subnet] && port!.mac === answer[annotationNames.mac];
    return isSame && port!.addresses.every(({ address }) => given.includes(address));
  },
};
