/** Plans of a look, and of what becomes of it, pod by pod. */
import { PodwireError } from '@podwire/errors';
import { type IP, referenceKey, type StoredObject } from '@podwire/objects';
import { compact } from '@podwire/platform';
import type { OvnNode, OvnPod } from '../contract.js';
import { writeAllocation } from '../pods/annotations.js';
import type { OvnChange, PodObject, SubnetCursors } from '../pods/contract.js';
import { splitId } from '../pods/owners.js';
import { AddressPlanner } from '../pods/plan-addresses.js';
import { nodePortName, podPortName } from '../topology/names.js';
import type {
  LookChanges,
  OvnClusterNode,
  OvnFacts,
  OvnLook,
  OvnNetworks,
  OvnObjects,
  OvnPlan,
  OvnPlanOptions,
  OvnWrite,
  PodAnswer,
  ProviderStates,
} from './contract.js';
import { findPod, toIpObject, toNode, toPodSubnet, toSubnet, toVpc } from './convert.js';
import { listMissing } from './defaults.js';
import { listIpWrites } from './ip-writes.js';
import { type Labels, listNodeLabels } from './node-labels.js';
import { planProviderStatuses, planStatuses } from './status.js';
import { type CheckedSubnet, checkSubnets } from './subnets.js';

type IpsByName = ReadonlyMap<string, StoredObject<IP>>;

const idOf = ({ namespace, name }: Pick<PodObject, 'namespace' | 'name'>): string => `${namespace}/${name}`;

const entryOf = <T>(key: string, value: T | undefined): [string, T][] =>
  value === undefined ? [] : [[key, value]];

/** Of one look, which it follows for as long as no more has changed than {@link LookChanges} can say. */
export class OvnPlanner {
  /** There are objects that nothing is known of but their names. */
  readonly hasUnreadable: boolean;
  readonly #missing: readonly OvnWrite[];
  readonly #problems: readonly PodwireError[];
  readonly #checked: readonly CheckedSubnet[];
  readonly #ips: Map<string, StoredObject<IP>>;
  /** Names of IP objects that cannot be read: they are left alone. */
  readonly #unreadableIps: ReadonlySet<string>;
  /** Ids of pods whose record cannot be read: they have what their IP object says. */
  readonly #unreadable: Set<string>;
  readonly #addresses: AddressPlanner;
  readonly #facts: Omit<OvnFacts, 'pods'>;
  readonly #pods: Map<string, OvnPod>;
  readonly #nodePorts: ReadonlySet<string>;
  /** Subnets that others have addresses of than at the last {@link planStatuses}. */
  #recount: Set<string> | 'all' = 'all';
  /** By the name of the node: all there are. */
  readonly #providers: Map<string, ProviderStates>;
  /** ProviderNetworks that nodes say something else of than at the last {@link planStatuses}. */
  readonly #reported = new Set<string>();

  /** @param cursors of the plan before: only a hint */
  constructor(look: OvnLook, options: OvnPlanOptions, cursors?: SubnetCursors) {
    const { objects, nodes } = look;
    const { defaults, encapsulation, statefulSets = [], nodeRates } = options;
    const { subnets, problems } = checkSubnets(objects);
    this.hasUnreadable = objects.unreadable.length > 0;
    this.#missing = listMissing(defaults, objects).map((after) => ({ after, reason: 'it was not there' }));
    this.#problems = [...objects.unreadable.map(describeUnreadable), ...problems];
    this.#checked = subnets;
    this.#ips = new Map(objects.ips.map((ip) => [ip.object.metadata.name, ip]));
    this.#unreadable = new Set(look.unreadablePods.map(idOf));
    this.#unreadableIps = new Set(listUnreadable(objects, 'IP'));
    this.#providers = new Map(nodes.map(({ name, providers = {} }) => [name, providers]));
    this.#nodePorts = new Set(nodes.map(({ name }) => nodePortName(name)));
    const pods = [...look.pods, ...[...this.#unreadable].flatMap((id) => recallPod(id, this.#ips) ?? [])];
    this.#addresses = new AddressPlanner(
      {
        ...{ pods, encapsulation, statefulSets, subnets: subnets.map(readSubnet) },
        nodes: nodes.map((node) => ({ ...node, rates: nodeRates?.get(node.name) })),
        ips: objects.ips.map(({ object }) => toIpObject(object)),
        unreadableSubnets: listUnreadable(objects, 'Subnet'),
      },
      cursors,
    );
    this.#facts = readFacts(objects, subnets, nodes, this.#ips);
    this.#pods = new Map(pods.flatMap((pod) => entryOf(idOf(pod), findPod(pod))));
  }

  /** There are other counts or conditions than at the last {@link planStatuses}. */
  get hasNewStatus(): boolean {
    return this.#recount === 'all' || this.#recount.size + this.#reported.size > 0;
  }

  /** As they are by now: nothing is in them that is not stored. */
  get facts(): OvnFacts {
    return { ...this.#facts, pods: this.#pods };
  }

  /**
   * @returns facts of these pods, by id; undefined where another planner has to begin with the whole look, and this one is of no
   *   more use: two have the same address, or an IP object is that of a node
   */
  follow(changes: LookChanges): ReadonlyMap<string, OvnPod | undefined> | undefined {
    const names = [...changes.ips.keys()];
    if (names.some((name) => this.#nodePorts.has(name))) return undefined;
    const ips = [...changes.ips].map(([name, after]) => this.#replaceIp(name, after));
    for (const [node, states] of changes.providers) this.#replaceProviders(node, states);
    const pods = this.#listPods(changes);
    if (!this.#addresses.follow({ pods, ips })) return undefined;
    const facts = new Map([...pods].map(([id, pod]) => [id, pod && findPod(pod)] as const));
    for (const [id, fact] of facts)
      if (fact === undefined) this.#pods.delete(id);
      else this.#pods.set(id, fact);
    return facts;
  }

  /** Without the status of objects. */
  plan(): Omit<OvnPlan, 'facts'> {
    const { changes: all, problems, cursors } = this.#addresses.plan();
    // A write that expects no object where one cannot be read would fail, and all others with it.
    const changes = all.filter(
      (change) => change.type !== 'put-ip' || !this.#unreadableIps.has(change.ip.name),
    );
    return {
      changes: [...this.#missing, ...listIpWrites(changes, this.#ips)],
      answers: changes.flatMap(toAnswer),
      problems: [...this.#problems, ...problems],
      cursors,
    };
  }

  /**
   * Of what has changed since the last call; at first of all.
   * @param networks as this planner knows them, but for their status
   * @param now milliseconds since 1970, for conditions that change
   */
  planStatuses(networks: OvnNetworks, now: number): OvnWrite[] {
    const isFirst = this.#recount === 'all';
    const { providerNetworks: all, vlans } = networks;
    const providerNetworks = all.filter(({ object }) => isFirst || this.#reported.has(object.metadata.name));
    this.#reported.clear();
    const nodes = [...this.#providers].map(([name, providers]) => ({ name, providers }));
    return [
      ...this.#planCounts(networks, now),
      ...planProviderStatuses({ providerNetworks, vlans }, nodes, now),
    ];
  }

  /** Of nodes, by name: what they have for provider networks by now. @param networks as for {@link planStatuses} */
  nodeLabels({ providerNetworks }: Pick<OvnNetworks, 'providerNetworks'>): Map<string, Labels> {
    const networks = providerNetworks.map(({ object }) => object);
    return new Map(
      [...this.#providers].map(([name, providers]) => [name, listNodeLabels({ name, providers }, networks)]),
    );
  }

  #planCounts(networks: OvnNetworks, now: number): OvnWrite[] {
    const recount = this.#recount;
    this.#recount = new Set();
    const ips = [...this.#ips.values()];
    if (recount === 'all') return planStatuses({ ...networks, ips }, this.#checked, now);
    const subnets = networks.subnets.filter(({ object }) => recount.has(object.metadata.name));
    const own = ips.filter(({ object }) => recount.has(object.spec.subnet));
    return planStatuses({ subnets, ips: own, vpcs: [], vlans: [] }, this.#checked, now);
  }

  #replaceProviders(node: string, after: ProviderStates): void {
    const before = this.#providers.get(node) ?? {};
    this.#providers.set(node, after);
    for (const network of Object.keys({ ...before, ...after }))
      if (before[network] !== after[network]) this.#reported.add(network);
  }

  #replaceIp(name: string, after: StoredObject<IP> | undefined) {
    const before = this.#ips.get(name);
    if (after === undefined) this.#ips.delete(name);
    else this.#ips.set(name, after);
    const known = [before, after].map((stored) => stored && toIpObject(stored.object));
    for (const ip of known) if (ip !== undefined && this.#recount !== 'all') this.#recount.add(ip.subnet);
    return { before: known[0], after: known[1] };
  }

  /** Those that have changed, and those without a readable record whose IP object has. */
  #listPods({ pods, ips }: LookChanges): Map<string, PodObject | undefined> {
    for (const [id, pod] of pods)
      if (pod === 'unreadable') this.#unreadable.add(id);
      else this.#unreadable.delete(id);
    const recalled = [...this.#unreadable].filter((id) => pods.has(id) || ips.has(portOf(id)));
    return new Map([
      ...[...pods].flatMap(([id, pod]) => (pod === 'unreadable' ? [] : [[id, pod] as const])),
      ...recalled.map((id) => [id, recallPod(id, this.#ips)] as const),
    ]);
  }
}

const portOf = (id: string): string => {
  const { namespace, name } = splitId(id);
  return podPortName(namespace, name);
};

/** As its IP object has it. */
function recallPod(id: string, ips: IpsByName): PodObject | undefined {
  const stored = ips.get(portOf(id));
  if (stored === undefined) return undefined;
  const ip = toIpObject(stored.object);
  const { podUid: uid = '', node, statefulSet } = ip;
  const pod = { ...splitId(id), uid, hasEnded: false, ...compact({ node, statefulSet }) };
  return { ...pod, annotations: { ...writeAllocation(ip), ...ip.portAnnotations } };
}

const readSubnet = ({ subnet, underlay, fault }: CheckedSubnet) => ({
  ...toPodSubnet(subnet, underlay),
  isSuspended: fault !== undefined,
});

const listUnreadable = ({ unreadable }: OvnObjects, wanted: string): string[] =>
  unreadable.flatMap(({ reference: { kind, name } }) => (kind === wanted ? [name] : []));

const toAnswer = (change: OvnChange): PodAnswer[] =>
  change.type === 'annotate' && change.what === 'pod'
    ? [{ id: change.id, uid: change.uid!, annotations: change.annotations }]
    : [];

const describeUnreadable = ({ reference, problems }: OvnObjects['unreadable'][number]): PodwireError =>
  new PodwireError(
    'OBJECT_INVALID',
    `${referenceKey(reference)}: ${problems.map(({ message }) => message).join('; ')}`,
    { action: 'Correct or delete the object. Until then it is left alone.' },
  );

function readFacts(
  { vpcs }: OvnObjects,
  subnets: readonly CheckedSubnet[],
  nodes: readonly OvnClusterNode[],
  ips: IpsByName,
): Omit<OvnFacts, 'pods'> {
  const reachable = new Set(nodes.filter(({ isReachable }) => isReachable).map(({ name }) => name));
  return {
    vpcs: new Map(vpcs.map(({ object }) => [object.metadata.name, toVpc(object)])),
    subnets: new Map(
      subnets.map(({ subnet, underlay, fault }) => [
        subnet.metadata.name,
        {
          ...toSubnet(subnet, underlay, (node) => reachable.has(node)),
          ...(fault === undefined ? {} : { fault }),
        },
      ]),
    ),
    nodes: new Map(nodes.flatMap((node) => findNode(node, ips))),
  };
}

/** A node without an IP object is not in the logical network yet. */
function findNode(node: OvnClusterNode, ips: IpsByName): [string, OvnNode][] {
  const ip = ips.get(nodePortName(node.name));
  return ip === undefined ? [] : [[node.name, toNode(node, toIpObject(ip.object))]];
}
