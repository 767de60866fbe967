/** Plans who gets which addresses. The same cluster and cursors always give the same plan. */
import { PodwireError } from '@podwire/errors';
import { isEqual } from '@podwire/objects';
import { problemAnnotation } from '@podwire/objects/kube-ovn-names';
import { compact } from '@podwire/platform';
import type { Allocation } from '../allocation/subnet-addresses.js';
import { conflict } from '../problems.js';
import { JOIN_SUBNET, nodePortName } from '../topology/names.js';
import { AllocationState } from './allocation-state.js';
import { answerNode, answerPod } from './answers.js';
import {
  annotationNames,
  type Annotations,
  findRateFaults,
  readAllocation,
  selectPortAnnotations,
} from './annotations.js';
import { asksByName, asksForAddresses, chooseAddresses, chooseNext, type Place } from './choose-addresses.js';
import { chooseSubnet } from './choose-subnet.js';
import type {
  AddressChanges,
  AddressPlan,
  NodeObject,
  OvnChange,
  OvnCluster,
  PodObject,
  PodSubnet,
  SubnetCursors,
} from './contract.js';
import { nodeOwner, podOwner } from './owners.js';
import { ipOfNode, ipOfPod } from './pod-ip.js';

/** Characters. */
const longestProblem = 1_000;

/**
 * Plans the changes after which every node has an end of the subnet `join`, every pod that is not over has addresses, and IP objects say
 * so. In a cluster in which they were made there are none. What has addresses keeps them.
 * @param cursors of the plan before: only a hint, nothing is handed out twice without it
 */
export const planAddresses = (cluster: OvnCluster, cursors?: SubnetCursors): AddressPlan =>
  new AddressPlanner(cluster, cursors).plan();

/** {@link planAddresses} of one cluster after the other, where pods and IP objects come, go and change. */
export class AddressPlanner {
  readonly #cluster: Pick<OvnCluster, 'nodes' | 'unreadableSubnets' | 'encapsulation'>;
  readonly #state: AllocationState;
  readonly #subnets: ReadonlyMap<string, PodSubnet>;
  readonly #nodeAddresses: ReadonlySet<string>;
  #changes: OvnChange[] = [];
  #problems: PodwireError[] = [];

  constructor(cluster: OvnCluster, cursors: SubnetCursors = {}) {
    const { nodes, unreadableSubnets, encapsulation } = cluster;
    this.#cluster = { nodes, unreadableSubnets, encapsulation };
    this.#state = new AllocationState(cluster, cursors);
    this.#subnets = new Map(cluster.subnets.map((subnet) => [subnet.name, subnet]));
    this.#nodeAddresses = new Set(nodes.flatMap(({ addresses }) => addresses));
  }

  /** @returns false where another planner has to begin with the whole cluster, and this one is of no more use */
  follow(changes: AddressChanges): boolean {
    return this.#state.follow(changes);
  }

  /** The plan of the cluster as it is by now, whatever became of the plans before. */
  plan(): AddressPlan {
    this.#state.forgetPromises();
    const findings = [...this.#state.findings];
    this.#changes = [
      ...findings.flatMap(({ gone }) => gone),
      ...findings.flatMap(({ restored }) => restored),
    ];
    this.#problems = findings.flatMap(({ problems }) => problems);
    for (const node of this.#cluster.nodes) this.#serveNode(node);
    const { waiting } = this.#state;
    // Those that ask by name first: no other pod gets it before.
    for (const pod of [...waiting.filter(asksByName), ...waiting.filter((one) => !asksByName(one))])
      this.#servePod(pod);
    const cursors = [...this.#state.addresses].map(([name, subnet]) => [name, subnet.cursors] as const);
    return { changes: this.#changes, problems: this.#problems, cursors: Object.fromEntries(cursors) };
  }

  #serveNode(node: NodeObject): void {
    const { name, annotations } = node;
    const subnet = this.#subnets.get(JOIN_SUBNET);
    if (subnet === undefined || subnet.isSuspended === true) return;
    this.#attempt(() => {
      const owner = nodeOwner(name);
      const held = readAllocation(annotations);
      const ip = this.#state.ipOf(owner);
      const allocation = held ?? ip ?? this.#takeNext(owner, subnet);
      const wanted = ip ?? ipOfNode(name, subnet.name, allocation);
      const portAnnotations = this.#readRates(node) ?? wanted.portAnnotations;
      if (ip === undefined || !isEqual(ip.portAnnotations ?? {}, portAnnotations ?? {}))
        this.#changes.push({ type: 'put-ip', ip: { ...wanted, ...compact({ portAnnotations }) } });
      if (annotations === undefined || held !== undefined) return;
      this.#changes.push({
        ...{ type: 'annotate', what: 'node', id: name },
        annotations: answerNode(subnet, allocation, nodePortName(name)),
      });
    });
  }

  #readRates({ name, rates }: NodeObject): Annotations | undefined {
    if (rates === undefined) return undefined;
    this.#problems.push(...findRateFaults(rates).map((fault) => conflict(`node ${name}: ${fault}`)));
    return selectPortAnnotations(rates);
  }

  #servePod(pod: PodObject): void {
    const error = this.#attempt(() => {
      const subnet = chooseSubnet(pod, this.#subnets, this.#cluster.unreadableSubnets);
      const allocation = this.#findKept(pod, subnet) ?? this.#choose(pod, subnet);
      this.#changes.push({
        ...{ type: 'annotate', what: 'pod', id: `${pod.namespace}/${pod.name}`, uid: pod.uid },
        annotations: {
          ...answerPod(subnet, allocation, this.#cluster.encapsulation),
          ...(pod.annotations[problemAnnotation] === undefined ? {} : { [problemAnnotation]: '' }),
        },
      });
      this.#changes.push({ type: 'put-ip', ip: ipOfPod(pod, subnet.name, allocation) });
    });
    if (error !== undefined) this.#tell(pod, `${error.code}: ${error.message}`);
  }

  /** On the pod's record, where its node looks for the reason. */
  #tell({ namespace, name, uid, annotations }: PodObject, words: string): void {
    // It may quote what a pod asks for, and has to fit into the record.
    const problem = words.slice(0, longestProblem);
    if (annotations[problemAnnotation] === problem) return;
    this.#changes.push({
      ...{ type: 'annotate', what: 'pod', id: `${namespace}/${name}`, uid },
      annotations: { [problemAnnotation]: problem },
    });
  }

  #attempt(serve: () => void): PodwireError | undefined {
    try {
      serve();
      return undefined;
    } catch (error) {
      if (!(error instanceof PodwireError)) throw error;
      this.#problems.push(error);
      return error;
    }
  }

  /** Addresses of its predecessor, unless it is to be in another subnet or asks for others. */
  #findKept(pod: PodObject, { name, ranges }: PodSubnet): Allocation | undefined {
    const kept = this.#state.ipOf(podOwner(pod));
    if (kept?.subnet !== name || asksForAddresses(pod)) return undefined;
    const mac = pod.annotations[annotationNames.mac]?.toLowerCase() ?? kept.mac;
    return kept.addresses.length === ranges.length && kept.mac === mac ? kept : undefined;
  }

  #choose(pod: PodObject, subnet: PodSubnet): Allocation {
    if (!asksByName(pod)) return this.#takeNext(podOwner(pod), subnet);
    const place = this.#placeOf(podOwner(pod), subnet.name);
    const allocation = chooseAddresses(pod, place);
    this.#state.promise(place.owner, place.subnet, allocation);
    return allocation;
  }

  #takeNext(owner: string, { name }: PodSubnet): Allocation {
    const place = this.#placeOf(owner, name);
    const allocation = chooseNext(place);
    this.#state.promise(owner, place.subnet, allocation);
    place.subnet.passOver(allocation.addresses);
    return allocation;
  }

  #placeOf(owner: string, subnet: string): Place {
    const isUnusable = (address: string): boolean => this.#nodeAddresses.has(address);
    return { owner, subnet: this.#state.addresses.get(subnet)!, isUnusable };
  }
}
