/**
 * The interface of network models. A model is data and pure functions: no I/O, no clock, no randomness. What it cannot derive (a
 * random MAC, the uplink's MTU) is passed in.
 */
import type { Resource } from '@podwire/engine';
import type { Derivations, Plan, Read } from '@podwire/planner';
import type { ZodType } from 'zod';
import type { Encapsulation } from './encapsulation.js';
import type { EndpointId, LeaseRecord, PodIdentity } from './identity.js';

export { type Encapsulation, encapsulations } from './encapsulation.js';
export { type EndpointId, endpointKey, type LeaseRecord, type PodIdentity } from './identity.js';

/** One entry of the `portMappings` capability, validated (CNI conventions, "Dynamic plugin specific fields"). */
export interface PortMapping {
  readonly hostPort: number;
  readonly containerPort: number;
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  /** Absent: every address of the host. */
  readonly hostIP?: string;
}

/** The `bandwidth` capability, validated. Rates in bits per second, bursts in bits, as in the conventions. */
export interface Bandwidth {
  readonly ingressRate?: number;
  readonly ingressBurst?: number;
  readonly egressRate?: number;
  readonly egressBurst?: number;
}

/** One pool as a model sees it. */
export interface PoolView {
  readonly name: string;
  /** ADDRESS/LENGTH */
  readonly cidr: string;
  readonly natOutgoing: boolean;
  /** One of the model's. Absent outside clusters: there are no other nodes. */
  readonly encapsulation?: Encapsulation;
}

/** Where the node is attached, in a cluster. */
export interface UnderlayView {
  /** Name of the link. */
  readonly link: string;
  /** bytes */
  readonly mtu: number;
  /** ADDRESS/LENGTH; the length says who shares the segment. */
  readonly ipv4?: string;
  readonly ipv6?: string;
}

/** A node's end of tunnels. */
export interface TunnelView {
  readonly mac: string;
  /** Addresses of the node's own blocks: what it sends from when it speaks to pods elsewhere, and the next hop to its blocks. */
  readonly ipv4?: string;
  readonly ipv6?: string;
}

/** Another node, as this one must know it to reach its pods. */
export interface PeerView {
  readonly name: string;
  /** ADDRESS/LENGTH */
  readonly ipv4?: string;
  readonly ipv6?: string;
  readonly tunnel?: TunnelView;
  /** MTU of its underlay in bytes, when it is known. */
  readonly mtu?: number;
  /** Its blocks of the node's networks, and single addresses that it has borrowed. */
  readonly blocks: readonly string[];
  /** Facts that models publish there, by the name of the model: see {@link NetworkModel.publish}. */
  readonly facts?: Readonly<Record<string, PublishedFacts>>;
}

/** A network, from the agent's configuration. */
export interface NetworkView {
  readonly name: string;
  readonly model: string;
  readonly pools: readonly PoolView[];
  /** The network's `options`, as the model's own schema has parsed them; see {@link NetworkModel.optionsSchema}. */
  readonly options?: unknown;
}

/** The node's forwarding before Podwire made a router of it. */
export interface RouterBefore {
  /** True if it forwarded; a family is absent until forwarding is needed for it. */
  readonly forwarded: { readonly 4?: boolean; readonly 6?: boolean };
  /** Names of its bridges, by the family whose forwarding was about to be switched on. */
  readonly bridges: Readonly<Record<4 | 6, readonly string[]>>;
  /** Links, `default` for those to come, that take IPv6 routes from router advertisements: `accept_ra` is 1 or 2. */
  readonly advertised: readonly string[];
}

/** State of the node now; `blocks` are the prefixes from which this node allocates. */
export interface NodeView {
  readonly name: string;
  readonly network: NetworkView;
  readonly blocks: readonly string[];
  /** MTU of pod links in bytes, from configuration or the uplink. */
  readonly mtu: number;
  /** True if the node has addresses of the family at all. */
  readonly ipv4: boolean;
  readonly ipv6: boolean;
  /** The node has no IPv4 address of its own, so it has nothing to speak to its pods from: a machine without a network. */
  readonly lacksIPv4?: boolean;
  /** Absent where the node was not looked at: it then counts as one that forwarded before. */
  readonly router?: RouterBefore;
  /** Both only in a cluster. */
  readonly underlay?: UnderlayView;
  readonly tunnel?: TunnelView;
}

/**
 * The part of the cluster that a pod joins in a network, as {@link NetworkModel.resolve} finds it: a project, a tenant. Plain
 * data, kept with the endpoint. A model declares its field beside its `resolve`:
 * `declare module '@podwire/network-contract' { interface Attachment { readonly vnid?: number } }`.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- extended by models
export interface Attachment {}

/** A macvlan link that a pod's namespace had before its ADD. */
export interface FoundLink {
  readonly name: string;
  /** IPv4 addresses, without length, of the node's link that it lies on. */
  readonly parentAddresses: readonly string[];
}

/** One attachment of one pod to one network, with everything a plan needs. */
export interface Endpoint {
  readonly id: EndpointId;
  readonly pod: PodIdentity;
  readonly leases: readonly LeaseRecord[];
  /** The pod side's MAC: the one asked for, or one made up by the agent. */
  readonly mac: string;
  /** The MAC that was asked for, for models that give pods one of their own; absent where none was. */
  readonly requestedMac?: string;
  /** Result of {@link NetworkModel.resolve}; absent where the model has none. */
  readonly attachment?: Attachment;
  /** As {@link AssignedAddresses.ask} gives them; absent where there are none. */
  readonly annotations?: Annotations;
  /** Path of the pod's network namespace, for people. */
  readonly netns?: string;
  /** Those that {@link NetworkModel.looksFor} names; absent where there are none. */
  readonly foundLinks?: readonly FoundLink[];
  /**
   * Another endpoint's record holds the host-side name that the model would choose: a second sandbox of a pod whose
   * first is not removed yet. The model then chooses a name that no other endpoint can have.
   */
  readonly nameTaken?: boolean;
  readonly portMappings: readonly PortMapping[];
  readonly bandwidth?: Bandwidth;
}

/** A link that is made for one endpoint alone. */
export interface PlannedLink {
  readonly side: 'host' | 'pod';
  readonly name: string;
  readonly mac: string;
}

export interface PlannedEndpoint {
  readonly resources: readonly Resource[];
  /**
   * Scopes of the model (`group/web`) that must be in force on the node before the pod's links are there. The ADD waits for them, and
   * has them planned and applied itself where they are not.
   */
  readonly needs?: readonly string[];
  /**
   * In the order of the CNI result's `interfaces`. The first one of the pod's side has the addresses; the first one of the host's side,
   * if there is any, is shown as the endpoint's interface. No two endpoints may have a link of one name on the host's side.
   */
  readonly links: readonly PlannedLink[];
  readonly mtu: number;
  /** Routes for the CNI result. */
  readonly routes: readonly { readonly dst: string; readonly gw?: string }[];
  /** Gateway per lease, for `ips[].gateway`; Calico leaves it out. */
  readonly gateways: readonly (string | undefined)[];
  /** Length of the prefix per lease, for `ips[].address`; absent: a single address. */
  readonly lengths?: readonly number[];
}

/** Something that keeps packets from arriving. Shown by `podwire status` and `podwire peers`. */
export interface Problem {
  /** For programs; `message` alone is shown where there is none. */
  readonly code?: 'MTU_MISMATCH';
  /** Absent when the node alone is the cause. */
  readonly peer?: string;
  readonly message: string;
}

/** Facts that other nodes must know of a node and can derive from its name. */
export interface NodeIdentity {
  /** MAC of the node's end of tunnels. */
  readonly tunnelMac: string;
}

/** Facts of a node that only models understand: short texts by name. */
export type PublishedFacts = Readonly<Record<string, string>>;

/** How a scope of a model is on the node: `pending` until the last change of it has ended. */
export type ScopeState = 'in-force' | 'pending' | { readonly problem: string };

/** The node at this moment, for facts that follow from more than its {@link NodeView}. */
export interface NodeNow {
  readonly read: Read;
  /** Of one of the model's own scopes: `group/web`. */
  readonly stateOf: (scope: `${string}/${string}`) => ScopeState;
  /** Facts that the model has published last, also before the agent was started; empty at first. */
  readonly before: PublishedFacts;
}

/** A link of the node, as of the last look. */
export interface HostLinkFact {
  readonly mac: string;
  /** bytes */
  readonly mtu: number;
}

/** One network of this node: its model, and the node as the model sees it. */
export interface NetworkSide {
  readonly model: NetworkModel;
  readonly view: NodeView;
}

declare module '@podwire/planner' {
  /** Facts that the plans of this node read. A model declares its own beside its plans. */
  interface FactKinds {
    /** The node, as the model of each of its networks sees it. */
    sides: readonly NetworkSide[];
    /** The same without the node's blocks: no path to a peer depends on them. */
    'sides-for-peers': readonly NetworkSide[];
    /** By the name of a link of the node, which is neither Podwire's nor the loopback. */
    'host-link': HostLinkFact | undefined;
    /** Pools of networks that this node does not have. */
    'other-pools': readonly PoolView[];
    /** Names of the other nodes; none outside clusters. */
    peers: ReadonlySet<string>;
    /** By the name of the node, as the store has it. */
    peer: PeerView | undefined;
  }
}

/** Scopes of one kind that a model plans beside the node, its peers and its endpoints: `group/…`, `subnet/…`. */
export interface ModelScopes {
  /** The part of the scopes' names before the slash. No other model has it. */
  readonly kind: string;
  /** Ids of all scopes that exist. Pure; runs again when something that it has read changes. */
  readonly list: (read: Read) => Iterable<string>;
  /** Plans one of them. Pure, as above. Collections of facts and priorities are those of the planner. */
  readonly plan: (id: string, read: Read) => ReturnType<Plan<Resource>>;
  /** Facts that the model derives from others. */
  readonly derivations?: Derivations;
}

/** Objects of the cluster's store that a model's plans read, each as a fact with the name of the object: `net-namespace/shop`. */
export interface ObjectFacts {
  /** The kind of the facts. Declared in `FactKinds` beside the plans that read them. */
  readonly fact: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** The fact that is the set of the names of all objects of the kind; absent where no plan lists them. */
  readonly names?: string;
  /** Present where a node has only those that are for it. Pure; the object has passed the schema of its kind. */
  readonly isOfNode?: (object: never, nodeName: string) => boolean;
  /**
   * The fact that an object gives, as JSON, since nodes keep it for when the store is away; undefined where it gives none. Pure.
   * @param object has passed the schema of its kind
   * @param created milliseconds since 1970
   */
  readonly read: (object: never, created: number) => unknown;
}

export type Annotations = Readonly<Record<string, string>>;

/** Requests of a pod itself. */
export interface AddressRequest {
  /** All of the pod. */
  readonly annotations: Annotations;
  /** Without length; empty: any. */
  readonly addresses: readonly string[];
  readonly mac?: string;
  readonly bandwidth?: Bandwidth;
}

/** Addresses that a controller of the cluster gives to each pod. It is asked by a record of the pod in the store. */
export interface AssignedAddresses {
  /** Annotations of the pod's record: what the pod asks for. */
  ask(request: AddressRequest): Annotations;
  /** The addresses of a pod that has been resolved. */
  of(attachment: Attachment): readonly LeaseRecord[];
  /** Annotations by which a pod asks for what it has already. */
  askFor(attachment: Attachment): Annotations;
  /** True if what the pod has been resolved to is what the controller has answered. @param answer annotations of the pod's record */
  isAnswer(attachment: Attachment, answer: Annotations): boolean;
}

/** Subnets that objects of the cluster give to nodes. */
export interface NodeSubnets {
  /** The kind of the facts that they follow from, one of the model's {@link ObjectFacts}; each has the name of its node. */
  readonly fact: string;
  /** The pools of a network, which all subnets lie in. */
  pools(network: NetworkView): readonly Omit<PoolView, 'natOutgoing'>[];
  /** ADDRESS/LENGTH of each subnet in the network that a node with this fact has. */
  of(fact: unknown, network: NetworkView): readonly string[];
}

/** Resources of the node that networks of several models share, so that no single model can plan them. Models name the same object. */
export interface HostTable {
  /**
   * Pure.
   * @param sides networks whose models ask for it
   * @param elsewhere pools of all other networks, those of other models and those that this node does not have
   */
  plan(sides: readonly NetworkSide[], elsewhere: readonly PoolView[]): PlannedTable;
}

export interface PlannedTable {
  /** Applied before what the models plan for the node. */
  readonly beforeModels: readonly Resource[];
  readonly afterModels: readonly Resource[];
}

export interface NetworkModel {
  /** As in `networks[].model` of the agent's configuration. */
  readonly name: string;
  /** One sentence for the configuration reference. */
  readonly description: string;
  /** Encapsulations that pools of its networks may have. */
  readonly encapsulations: readonly Encapsulation[];
  /** The shared tables that its networks need, such as the packet filter of `@podwire/network-traffic`. */
  readonly hostTables: readonly HostTable[];
  /** Present where pods are kept apart by what they belong to: reports if packets pass from one to the other. Pure. */
  reaches?(from: Attachment, to: Attachment): boolean;
  /** `none`: nothing enforces policy for its pods. Absent: the node's packet filter does, on the links of pods. */
  readonly policy?: 'none';
  /**
   * Links of the node through which it forwards packets of pods, beside those whose name begins with the prefix for pod links: a
   * bridge's own. A node that is no router forwards for these, and their addresses are those of pools.
   */
  readonly forwardingLinks?: readonly string[];
  /** For people, who see them in `podwire status`: settings of a network by their names, such as `mode`. */
  settings?(node: NodeView): Readonly<Record<string, string>>;
  /** Schema of `networks[].options`; a model without one has no options. */
  readonly optionsSchema?: ZodType;
  /** Bridges, tunnels, tables, sysctls: what the node needs before the first pod. */
  planNode(node: NodeView): Resource[];
  /** Plans the resources by which the node reaches the pods of another node. They depend on no block of this node: it has none here. */
  planPeer(node: NodeView, peer: PeerView): Resource[];
  /**
   * Present in models whose pods belong to something that the cluster decides. Pure; runs again when a fact that it has read
   * changes, and the endpoint is planned again with the new result.
   * @throws PodwireError with code 11 of CNI ("try again later") where that is not decided yet; REQUEST_INVALID where the pod
   * can belong to nothing
   */
  resolve?(pod: PodIdentity, network: NetworkView, read: Read): Attachment;
  /** Names of macvlan links that another plugin may have put into a pod's namespace, and that a plan depends on. */
  readonly looksFor?: readonly string[];
  /** Everything one pod needs. */
  planEndpoint(endpoint: Endpoint, node: NodeView): PlannedEndpoint;
  /**
   * The MTU that pod links of the network must have, in bytes, so that a packet of that size gets through every path. Outside clusters
   * `node.mtu`.
   */
  podMtu(node: Pick<NodeView, 'network' | 'underlay' | 'mtu'>): number;
  /** Problems of the node, and of the paths to these peers. Reads nothing and changes nothing. */
  diagnose(node: NodeView, peers: readonly PeerView[]): Problem[];
  /** Scopes that the model adds on a node that has a network of it. */
  readonly scopes?: readonly ModelScopes[];
  /** Objects whose facts its plans read, beside the node, its peers and its pods. */
  readonly objects?: readonly ObjectFacts[];
  /**
   * Present in models whose nodes allocate from a subnet that an object of the cluster gives them. Other nodes claim blocks of stored
   * pools. The first two addresses of a subnet and the last one are for no pod.
   */
  readonly subnets?: NodeSubnets;
  /**
   * Present in models whose pods get their addresses from a controller. Their networks have no pools, and `resolve` finds what the
   * controller has answered.
   */
  readonly assigned?: AssignedAddresses;
  /** Bridges of Open vSwitch that its flows are on; empty where others write the flows. A node that has a network of the model must have Open vSwitch. */
  readonly bridges?: readonly string[];
  /** The addresses of services, as ADDRESS/LENGTH, in models that keep a way to them. */
  serviceNetwork?(network: NetworkView): string;
  /**
   * Facts of this node that the model's plans on other nodes need, or its controller. Asked for after each change that was applied. At
   * most 4 KiB for all models; written only when they change.
   */
  publish?(node: NodeView, now: NodeNow): PublishedFacts;
  /**
   * Present in models with tunnels that end at an address of a pod's kind: reports if a node needs one for this pool. It is taken from
   * the pools for which this is true.
   */
  needsTunnelAddress?(pool: PoolView): boolean;
  /** Present in models with tunnels between nodes. */
  nodeIdentity?(nodeName: string): NodeIdentity;
}
