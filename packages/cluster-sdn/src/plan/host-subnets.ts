/** HostSubnets: one for each node, and those that are asked for. */
import { parsePrefix } from '@podwire/addresses';
import type { PodwireError } from '@podwire/errors';
import {
  type ClusterNetwork,
  type HostSubnet,
  isEqual,
  networkAnnotations,
  type StoredObject,
} from '@podwire/objects';
import type { SubnetRanges } from '../allocation/subnet-ranges.js';
import type { Change, ClusterNode, PlannedPart } from '../contract.js';
import { conflict, noSubnet } from '../problems.js';
import { withoutAnnotation } from './annotations.js';
import { byName, compareNames } from './names.js';
import { findAddressFault } from './node-address.js';
import { findSubnetFaults } from './subnet-faults.js';

const { assignSubnet, nodeUid } = networkAnnotations;

export interface HostSubnetInputs {
  readonly hostSubnets: readonly StoredObject<HostSubnet>[];
  readonly nodes: readonly ClusterNode[];
  readonly clusterNetwork: ClusterNetwork;
  /** Names of HostSubnets whose content cannot be read. */
  readonly unreadable: ReadonlySet<string>;
}

/** @param ranges with the subnets that there are; takes in what the plan does */
export function planHostSubnets(inputs: HostSubnetInputs, ranges: SubnetRanges): PlannedPart {
  return new HostSubnetPlan(inputs, ranges).plan();
}

class HostSubnetPlan {
  readonly #inputs: HostSubnetInputs;
  readonly #ranges: SubnetRanges;
  readonly #nodes: ReadonlyMap<string, ClusterNode>;
  readonly #changes: Change[] = [];
  readonly #problems: PodwireError[] = [];

  constructor(inputs: HostSubnetInputs, ranges: SubnetRanges) {
    this.#inputs = inputs;
    this.#ranges = ranges;
    this.#nodes = new Map(inputs.nodes.map((node) => [node.name, node]));
  }

  plan(): PlannedPart {
    const kept = new Map(byName(this.#inputs.hostSubnets));
    for (const [name, stored] of kept) if (this.#removeStale(name, stored)) kept.delete(name);
    const after = [...kept].map(([name, stored]) => this.#update(name, stored));
    for (const node of [...this.#nodes.values()].toSorted((a, b) => compareNames(a.name, b.name)))
      if (!kept.has(node.name) && !this.#inputs.unreadable.has(node.name)) this.#create(node);
    this.#problems.push(...findSubnetFaults(after, this.#ranges).map(conflict));
    return { changes: this.#changes, problems: this.#problems };
  }

  /** One without the identity of a node belongs to something that is none, and to who made it. */
  #removeStale(name: string, before: StoredObject<HostSubnet>): boolean {
    const { subnet, metadata } = before.object;
    const uid = metadata.annotations?.[nodeUid] ?? '';
    const node = this.#nodes.get(name);
    if (uid === '' || node?.uid === uid) return false;
    if (subnet !== '') this.#ranges.giveBack(parsePrefix(subnet));
    const reason = node === undefined ? 'its node is gone' : 'another node has the name of its node';
    this.#changes.push({ before, reason });
    return true;
  }

  #update(name: string, before: StoredObject<HostSubnet>): HostSubnet {
    const after = this.#assign(this.#follow(before.object, this.#nodes.get(name)));
    if (isEqual(after, before.object)) return after;
    this.#changes.push({ before, after, reason: describeUpdate(before.object, after) });
    return after;
  }

  /** Address and identity of its node. */
  #follow(hostSubnet: HostSubnet, node: ClusterNode | undefined): HostSubnet {
    const { host, hostIP, metadata } = hostSubnet;
    const usable = this.#checkAddress(host, node === undefined ? hostIP : node.address);
    if (node === undefined) return hostSubnet;
    const annotations = { ...metadata.annotations, [nodeUid]: node.uid };
    return { ...hostSubnet, metadata: { ...metadata, annotations }, hostIP: usable ?? hostIP };
  }

  /** @returns the address, if it can be one of a node */
  #checkAddress(host: string, address: string | undefined): string | undefined {
    const fault = findAddressFault(address, this.#inputs.clusterNetwork);
    if (fault === undefined) return address;
    this.#problems.push(conflict(`the address of ${host} ${fault}`));
    return undefined;
  }

  /** A subnet that it has is replaced: who asks has no use for it. */
  #assign(hostSubnet: HostSubnet): HostSubnet {
    const { host, subnet: old, metadata } = hostSubnet;
    if (metadata.annotations?.[assignSubnet] === undefined) return hostSubnet;
    const subnet = this.#allocate(host);
    if (subnet === undefined) return hostSubnet;
    if (old !== '') this.#ranges.giveBack(parsePrefix(old));
    return { ...hostSubnet, metadata: withoutAnnotation(metadata, assignSubnet), subnet };
  }

  #create({ name, uid, address: given }: ClusterNode): void {
    const address = this.#checkAddress(name, given);
    const subnet = address === undefined ? undefined : this.#allocate(name);
    if (address === undefined || subnet === undefined) return;
    this.#changes.push({ after: createHostSubnet(name, uid, address, subnet), reason: 'its node is new' });
  }

  #allocate(host: string): string | undefined {
    const subnet = this.#ranges.allocate();
    if (subnet === undefined) this.#problems.push(noSubnet(host, this.#ranges.cidrs));
    return subnet;
  }
}

function describeUpdate(before: HostSubnet, after: HostSubnet): string {
  const parts = [
    ...(before.subnet === after.subnet ? [] : ['it has asked for a subnet']),
    ...(before.hostIP === after.hostIP ? [] : [`the address of its node was ${before.hostIP}`]),
  ];
  return parts.length === 0 ? 'its node is known now' : parts.join(', ');
}

const createHostSubnet = (name: string, uid: string, hostIP: string, subnet: string): HostSubnet => ({
  apiVersion: 'network.openshift.io/v1',
  kind: 'HostSubnet',
  metadata: { name, annotations: { [nodeUid]: uid } },
  host: name,
  hostIP,
  subnet,
  egressIPs: [],
  egressCIDRs: [],
});
