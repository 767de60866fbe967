/** IP objects: which of them go, and what those that stay keep. */
import type { SubnetAddresses } from '../allocation/subnet-addresses.js';
import { JOIN_SUBNET } from '../topology/names.js';
import { readAllocation } from './annotations.js';
import type { IpObject, NodeObject, OvnCluster, PodObject } from './contract.js';
import { ordinalOf, ownerOf } from './owners.js';

/** `annotated`: its pod or node has addresses by its annotations. `kept`: these are for who has that name, now or later. */
export type IpState = 'annotated' | 'kept' | { readonly gone: string };

export interface IpView {
  readonly pods: ReadonlyMap<string, PodObject>;
  readonly nodes: ReadonlyMap<string, NodeObject>;
  readonly subnets: ReadonlyMap<string, SubnetAddresses>;
  readonly unreadableSubnets: readonly string[];
  readonly statefulSets: OvnCluster['statefulSets'];
}

export const decideIp = (ip: IpObject, view: IpView): IpState =>
  ip.namespace === '' ? decideOfNode(ip, view) : decideOfPod(ip, view);

function decideOfNode(ip: IpObject, view: IpView): IpState {
  const node = view.nodes.get(ownerOf(ip));
  if (node === undefined) return { gone: 'its node is gone' };
  return ip.subnet === JOIN_SUBNET
    ? decidePlace(ip, node, view)
    : { gone: `subnet ${ip.subnet} is for pods` };
}

/** The pod that is there has another identity than the one that the addresses were for: nothing of the old one is its own. */
function decideOfPod(ip: IpObject, view: IpView): IpState {
  const pod = view.pods.get(ownerOf(ip));
  if (pod !== undefined && !pod.hasEnded && pod.uid === ip.podUid) return decidePlace(ip, pod, view);
  if (ip.statefulSet !== undefined) return decideKept(ip, ip.statefulSet, view);
  return {
    gone:
      pod === undefined
        ? 'its pod is gone'
        : pod.uid === ip.podUid
          ? 'its pod has ended'
          : 'its pod is another one',
  };
}

/** Pods of a stateful set have the addresses of their predecessors for as long as the set wants a pod of that number. */
function decideKept(ip: IpObject, name: string, view: IpView): IpState {
  const set = view.statefulSets.find((one) => one.namespace === ip.namespace && one.name === name);
  if (set === undefined || set.isDeleting) return { gone: `stateful set ${name} is gone` };
  const ordinal = ordinalOf(ip.podName);
  if (ordinal === undefined) return { gone: `stateful set ${name} has numbered pods only` };
  if (ordinal >= set.replicas) return { gone: `stateful set ${name} has ${set.replicas} pods` };
  return decidePlace(ip, undefined, view);
}

function decidePlace(
  { subnet: name, addresses }: IpObject,
  owner: Pick<NodeObject, 'annotations'> | undefined,
  { subnets, unreadableSubnets }: IpView,
): IpState {
  if (readAllocation(owner?.annotations) !== undefined) return 'annotated';
  if (unreadableSubnets.includes(name)) return 'kept';
  const subnet = subnets.get(name);
  if (subnet === undefined) return { gone: `subnet ${name} is gone` };
  return addresses.every((address) => subnet.contains(address))
    ? 'kept'
    : { gone: `subnet ${name} has other addresses` };
}
