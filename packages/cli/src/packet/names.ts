/** Names of the cluster in which a packet is followed: of pods, nodes and projects. Pure. */
import net from 'node:net';
import { PodwireError } from '@podwire/errors';
import type { FlowNames } from '@podwire/network-sdn/description';
import { compact } from '@podwire/platform';

export interface PodPlace {
  /** NAMESPACE/NAME */
  readonly name: string;
  readonly node: string;
  readonly addresses: readonly string[];
}

export interface ClusterNames {
  /** Where they come from, in words. */
  readonly source: string;
  readonly pods: readonly PodPlace[];
  /** The address is that of tunnels. */
  readonly nodes: readonly { readonly name: string; readonly address: string }[];
  readonly projects: readonly { readonly name: string; readonly vnid: number }[];
}

/** For packets between addresses: nothing but the switch is asked then. */
export const noNames: ClusterNames = { source: 'nothing', pods: [], nodes: [], projects: [] };

/** Where a packet comes from, or goes to. */
export interface End {
  /** IPv4 */
  readonly address: string;
  /** NAMESPACE/NAME, and its node; absent for what is no pod, or a pod whose name is not known. */
  readonly pod?: string;
  readonly node?: string;
}

/** Reports if a text is the name of a pod, as people write it, and no address. */
export const isPodName = (text: string): boolean =>
  /^(pod\/)?([a-z0-9-]+\/)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(text) && !/^[\d.]+$/.test(text);

/**
 * @param text an IPv4 address; NAMESPACE/NAME or NAME of the namespace `default`, also behind `pod/`
 * @throws PodwireError POD_UNKNOWN; REQUEST_INVALID for a pod without an IPv4 address
 */
export function findEnd(text: string, names: ClusterNames): End {
  if (net.isIPv4(text)) {
    const pod = podAt(text, names);
    return { address: text, ...compact({ pod: pod?.name, node: pod?.node }) };
  }
  const bare = text.replace(/^pod\//, '');
  const name = bare.includes('/') ? bare : `default/${bare}`;
  const found = names.pods.find((pod) => pod.name === name);
  if (found === undefined)
    throw new PodwireError('POD_UNKNOWN', `${names.source} has no pod ${name}`, {
      action: 'Give its namespace with it, as NAMESPACE/NAME; or its IPv4 address in place of its name.',
    });
  const address = found.addresses.find((each) => net.isIPv4(each));
  if (address !== undefined) return { address, pod: name, node: found.node };
  throw new PodwireError('REQUEST_INVALID', `pod ${name} has no IPv4 address`);
}

const podAt = (address: string, { pods }: ClusterNames): PodPlace | undefined =>
  pods.find(({ addresses }) => addresses.includes(address));

/** The name of the node with this address of tunnels. */
export const nodeAt = (address: string | undefined, { nodes }: ClusterNames): string | undefined =>
  nodes.find((each) => each.address === address)?.name;

export const toFlowNames = (names: ClusterNames): FlowNames => ({
  projects: (vnid) => names.projects.filter((each) => each.vnid === vnid).map(({ name }) => name),
  node: (address) => nodeAt(address, names),
  pod: (address) => podAt(address, names)?.name,
});
