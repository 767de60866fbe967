/** Plans who gets which addresses. Pure: the same cluster and cursors always give the same plan. */
import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import { type Allocation, SubnetAddresses } from '../allocation/subnet-addresses.js';
import { conflict } from '../problems.js';
import { JOIN_SUBNET, nodePortName, podPortName } from '../topology/names.js';
import { answerNode, answerPod } from './answers.js';
import { annotationNames, readAllocation } from './annotations.js';
import { asksByName, asksForAddresses, chooseAddresses, chooseNext, type Place } from './choose-addresses.js';
import { chooseSubnet } from './choose-subnet.js';
import type {
  AddressPlan,
  IpObject,
  NodeObject,
  OvnChange,
  OvnCluster,
  PodObject,
  PodSubnet,
  SubnetCursors,
} from './contract.js';
import { decideIp } from './ip-objects.js';
import { nodeOwner, ownerOf, podOwner } from './owners.js';

/**
 * Plans the changes after which every node has an end of the subnet `join`, every pod that is not over has addresses, and IP objects say
 * so. In a cluster in which they were made there are none. What has addresses keeps them.
 * @param cursors of the plan before: only a hint, nothing is handed out twice without it
 */
export function planAddresses(cluster: OvnCluster, cursors: SubnetCursors = {}): AddressPlan {
  const planning = new Planning(cluster, cursors);
  planning.takeWhatIsHeld();
  planning.tidyIps();
  for (const node of cluster.nodes) planning.serveNode(node);
  const waiting = cluster.pods.filter(
    (pod) => !pod.hasEnded && readAllocation(pod.annotations) === undefined,
  );
  // Those that ask by name first: no other pod gets it before.
  for (const pod of [...waiting.filter(asksByName), ...waiting.filter((one) => !asksByName(one))])
    planning.servePod(pod);
  return planning.finish();
}

class Planning {
  readonly #cluster: OvnCluster;
  readonly #subnets: ReadonlyMap<string, PodSubnet>;
  readonly #addresses: ReadonlyMap<string, SubnetAddresses>;
  readonly #pods: ReadonlyMap<string, PodObject>;
  readonly #nodes: ReadonlyMap<string, NodeObject>;
  readonly #nodeAddresses: ReadonlySet<string>;
  readonly #changes: OvnChange[] = [];
  readonly #problems: PodwireError[] = [];
  /** IP objects that stay, by owner. */
  readonly #ips = new Map<string, IpObject>();

  constructor(cluster: OvnCluster, cursors: SubnetCursors) {
    this.#cluster = cluster;
    this.#subnets = new Map(cluster.subnets.map((subnet) => [subnet.name, subnet]));
    this.#addresses = new Map(
      cluster.subnets.map((subnet) => [subnet.name, new SubnetAddresses(subnet, cursors[subnet.name])]),
    );
    this.#pods = new Map(cluster.pods.map((pod) => [podOwner(pod), pod]));
    this.#nodes = new Map(cluster.nodes.map((node) => [nodeOwner(node.name), node]));
    this.#nodeAddresses = new Set(cluster.nodes.flatMap(({ addresses }) => addresses));
  }

  finish(): AddressPlan {
    const cursors = [...this.#addresses].map(([name, subnet]) => [name, subnet.cursors] as const);
    return { changes: this.#changes, problems: this.#problems, cursors: Object.fromEntries(cursors) };
  }

  takeWhatIsHeld(): void {
    for (const { name, annotations } of this.#cluster.nodes) this.#hold(nodeOwner(name), annotations);
    for (const pod of this.#cluster.pods) if (!pod.hasEnded) this.#hold(podOwner(pod), pod.annotations);
  }

  #hold(owner: string, annotations: NodeObject['annotations']): void {
    const held = readAllocation(annotations);
    if (held === undefined) return;
    const subnet = this.#addresses.get(held.subnet);
    if (subnet !== undefined) this.#take(subnet, owner, held);
    else if (!this.#cluster.unreadableSubnets.includes(held.subnet))
      this.#problems.push(conflict(`${owner} is in subnet ${held.subnet}, which is not there`));
  }

  #take(subnet: SubnetAddresses, owner: string, allocation: Allocation): void {
    for (const address of allocation.addresses)
      if (!subnet.contains(address))
        this.#problems.push(conflict(`${owner} has ${address}, which is not in its subnet ${subnet.name}`));
    for (const text of subnet.take(owner, allocation))
      this.#problems.push(
        conflict(`${owner} and ${subnet.ownerOf(text)} both have ${text} of subnet ${subnet.name}`),
      );
  }

  tidyIps(): void {
    const { statefulSets, unreadableSubnets } = this.#cluster;
    const view = {
      pods: this.#pods,
      nodes: this.#nodes,
      subnets: this.#addresses,
      unreadableSubnets,
      statefulSets,
    };
    for (const ip of this.#cluster.ips) {
      const state = decideIp(ip, view);
      const owner = ownerOf(ip);
      if (typeof state === 'object') {
        this.#changes.push({ type: 'delete-ip', name: ip.name, reason: state.gone });
        continue;
      }
      this.#ips.set(owner, ip);
      const subnet = this.#addresses.get(ip.subnet);
      if (state === 'kept' && subnet !== undefined) this.#take(subnet, owner, ip);
    }
    for (const pod of this.#cluster.pods) if (!pod.hasEnded) this.#restoreIp(pod);
  }

  /** One that was lost comes back from the pod's annotations. */
  #restoreIp(pod: PodObject): void {
    const held = readAllocation(pod.annotations);
    if (held !== undefined && this.#ips.get(podOwner(pod))?.podUid !== pod.uid)
      this.#putIpOf(pod, held.subnet, held);
  }

  serveNode({ name, annotations }: NodeObject): void {
    const subnet = this.#subnets.get(JOIN_SUBNET);
    if (subnet === undefined || subnet.isSuspended === true) return;
    this.#attempt(() => {
      const owner = nodeOwner(name);
      const held = readAllocation(annotations);
      const ip = this.#ips.get(owner);
      const allocation = held ?? ip ?? this.#takeNext(owner, subnet);
      const port = nodePortName(name);
      if (ip === undefined)
        this.#putIp({
          name: port,
          namespace: '',
          podName: name,
          node: name,
          ...partsOf(allocation, subnet.name),
        });
      if (annotations === undefined || held !== undefined) return;
      this.#changes.push({
        type: 'annotate',
        what: 'node',
        id: name,
        annotations: answerNode(subnet, allocation, port),
      });
    });
  }

  servePod(pod: PodObject): void {
    this.#attempt(() => {
      const subnet = chooseSubnet(pod, this.#subnets, this.#cluster.unreadableSubnets);
      const allocation = this.#findKept(pod, subnet) ?? this.#choose(pod, subnet);
      this.#changes.push({
        ...{ type: 'annotate', what: 'pod', id: `${pod.namespace}/${pod.name}`, uid: pod.uid },
        annotations: answerPod(subnet, allocation, this.#cluster.encapsulation),
      });
      this.#putIpOf(pod, subnet.name, allocation);
    });
  }

  #attempt(serve: () => void): void {
    try {
      serve();
    } catch (error) {
      if (!(error instanceof PodwireError)) throw error;
      this.#problems.push(error);
    }
  }

  /** Addresses of its predecessor, unless it is to be in another subnet or asks for others. */
  #findKept(pod: PodObject, { name, ranges }: PodSubnet): Allocation | undefined {
    const kept = this.#ips.get(podOwner(pod));
    if (kept?.subnet !== name || asksForAddresses(pod)) return undefined;
    const mac = pod.annotations[annotationNames.mac]?.toLowerCase() ?? kept.mac;
    return kept.addresses.length === ranges.length && kept.mac === mac ? kept : undefined;
  }

  #choose(pod: PodObject, subnet: PodSubnet): Allocation {
    if (!asksByName(pod)) return this.#takeNext(podOwner(pod), subnet);
    const place = this.#placeOf(podOwner(pod), subnet.name);
    const allocation = chooseAddresses(pod, place);
    place.subnet.take(place.owner, allocation);
    return allocation;
  }

  #takeNext(owner: string, { name }: PodSubnet): Allocation {
    const place = this.#placeOf(owner, name);
    const allocation = chooseNext(place);
    place.subnet.take(owner, allocation);
    place.subnet.passOver(allocation.addresses);
    return allocation;
  }

  #placeOf(owner: string, subnet: string): Place {
    const isUnusable = (address: string): boolean => this.#nodeAddresses.has(address);
    return { owner, subnet: this.#addresses.get(subnet)!, isUnusable };
  }

  #putIpOf(pod: PodObject, subnet: string, allocation: Allocation): void {
    const { namespace, name: podName, uid: podUid, node, statefulSet } = pod;
    const name = podPortName(namespace, podName);
    this.#putIp({
      name,
      namespace,
      podName,
      podUid,
      ...compact({ node, statefulSet }),
      ...partsOf(allocation, subnet),
    });
  }

  #putIp(ip: IpObject): void {
    this.#changes.push({ type: 'put-ip', ip });
  }
}

const partsOf = ({ addresses, mac }: Allocation, subnet: string) => ({ subnet, addresses, mac });
