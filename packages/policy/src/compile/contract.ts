/**
 * The compiled form: what a node enforces, in terms that a packet filter has. A model renders it; `decide` reads it. Everything is
 * data, sets and policies are shared by all endpoints, and a compiler answers each change with a delta.
 */
import type { IcmpMatch, HostMode, PortRange, TierEnd } from '../model/policy.js';
import type { ObjectReference, Origin } from '@podwire/objects';
import type { PodKey, PolicyProtocol } from '../model/facts.js';

/** A digest of what the set is made of: equal selections are one set. Letters, digits and `-`, at most 24 characters. */
export type SetId = string;

export type Family = 4 | 6;

/**
 * `addresses`: single addresses. `nets`: prefixes that do not overlap, ADDRESS/LENGTH. `ports`: `ADDRESS,PROTOCOL,PORT`, for named
 * ports and services. Members are canonical text.
 */
export type SetType = 'addresses' | 'nets' | 'ports';

export interface CompiledSet {
  readonly id: SetId;
  readonly type: SetType;
  readonly family: Family;
  /** In a few words, for people who look at the table. */
  readonly comment: string;
}

/** The address (of type `ports`: address, protocol and destination port) is in the set; with `negate`, it is not. */
export interface SetMatch {
  readonly set: SetId;
  readonly negate?: boolean | undefined;
}

/**
 * One rule of a packet filter: all that is there must hold. It is of one family whenever it names a set. A rule of an object may
 * become several of these, next to each other.
 */
export interface CompiledRule {
  readonly action: 'allow' | 'deny' | 'pass' | 'log';
  readonly family?: Family | undefined;
  readonly protocol?: PolicyProtocol | number | undefined;
  readonly notProtocol?: PolicyProtocol | number | undefined;
  readonly sourcePorts?: readonly PortRange[] | undefined;
  readonly notSourcePorts?: readonly PortRange[] | undefined;
  readonly destinationPorts?: readonly PortRange[] | undefined;
  readonly notDestinationPorts?: readonly PortRange[] | undefined;
  readonly icmp?: IcmpMatch | undefined;
  readonly notIcmp?: IcmpMatch | undefined;
  /** Sets of type `addresses` or `nets`. */
  readonly source: readonly SetMatch[];
  /** Sets of any type. */
  readonly destination: readonly SetMatch[];
  /** The rule of the object that it comes from: `spec.ingress[0]`. */
  readonly path: string;
}

export type PolicyId = string;

/** Where a policy stands among those of its tier: by order (infinite where it has none), then by name, then by id. */
export interface PolicyRank {
  readonly order: number;
  /** Of the object. */
  readonly name: string;
}

/** Rules of one policy in one direction. Shared by all endpoints that it selects. */
export interface CompiledPolicy {
  readonly id: PolicyId;
  readonly reference: ObjectReference;
  readonly origin?: Origin | undefined;
  readonly tier: string;
  readonly rank: PolicyRank;
  readonly ingress?: readonly CompiledRule[] | undefined;
  readonly egress?: readonly CompiledRule[] | undefined;
  readonly hostMode: HostMode;
  readonly broken?: string | undefined;
}

/** The policies of a tier that select an endpoint and govern the direction, in order of evaluation. Never empty. */
export interface CompiledTier {
  readonly tier: string;
  readonly policies: readonly PolicyId[];
  readonly end: TierEnd;
}

export interface CompiledDirection {
  readonly tiers: readonly CompiledTier[];
  /** After all tiers: ids of profiles' policies (`profile NAME`), evaluated as a tier that ends with `end`. */
  readonly profiles: readonly PolicyId[];
  /** Where nothing has decided. */
  readonly end: 'allow' | 'deny';
}

export type EndpointKey = PodKey;

/** Policies of an endpoint: a pod, or a host endpoint (`*host/NAME`). Endpoints with equal directions share `group`. */
export interface CompiledEndpoint {
  readonly key: EndpointKey;
  readonly kind: 'pod' | 'host-endpoint';
  /** Of a host endpoint: the name of its link, `*` for all of the node's own; absent where it has none. */
  readonly link?: string | undefined;
  readonly ingress: CompiledDirection;
  readonly egress: CompiledDirection;
}

export interface SetChange {
  readonly set: CompiledSet;
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** The changes of one call. A set that is new has all its members in `add`. */
export interface CompiledDelta {
  readonly sets: readonly SetChange[];
  readonly setsRemoved: readonly CompiledSet[];
  readonly policies: readonly CompiledPolicy[];
  readonly policiesRemoved: readonly PolicyId[];
  readonly endpoints: readonly CompiledEndpoint[];
  readonly endpointsRemoved: readonly EndpointKey[];
}

/** Everything that is in force, as the deltas add up to it. */
export interface CompiledState {
  readonly sets: ReadonlyMap<SetId, { readonly set: CompiledSet; readonly members: ReadonlySet<string> }>;
  readonly policies: ReadonlyMap<PolicyId, CompiledPolicy>;
  readonly endpoints: ReadonlyMap<EndpointKey, CompiledEndpoint>;
}
