/**
 * Policy in its normal form. Every kind of object that says who may talk to whom is translated to this, and nothing after the
 * translation knows which kind it was.
 */
import type { ObjectReference, Origin } from '@podwire/objects';
import type { Selector } from '../selectors/contract.js';
import type { PolicyProtocol } from './facts.js';

export type Direction = 'ingress' | 'egress';

/** `pass`: the rest of the tier is skipped. `log` decides nothing. */
export type Action = 'allow' | 'deny' | 'pass' | 'log';

/** The action of a tier where one of its policies selects the endpoint and no rule matches. */
export type TierEnd = 'deny' | 'pass';

/**
 * Tiers are evaluated in ascending order, by name where orders are equal. Calico's `default` tier and Kubernetes' NetworkPolicy
 * are one tier (order 1,000,000); Admin lies in front of all others, Baseline behind all.
 */
export interface Tier {
  readonly name: string;
  readonly order: number;
  readonly end: TierEnd;
}

/** The pods of the namespaces that the first selector matches (`all`: every namespace), by their labels. */
export interface PodSelection {
  /** Over labels of namespaces. One namespace by name: `in kubernetes.io/metadata.name`. */
  readonly namespaces: Selector;
  readonly pods: Selector;
  /** Over labels of service accounts' names: `in` over the key `projectcalico.org/serviceaccount` of the pod. */
  readonly serviceAccounts?: Selector | undefined;
}

/** Endpoints that a policy applies to. Several: any of them. */
export type Subject =
  | ({ readonly is: 'pods' } & PodSelection)
  /** Host endpoints by their labels. */
  | { readonly is: 'host-endpoints'; readonly labels: Selector };

export type Peer =
  | ({ readonly is: 'pods' } & PodSelection)
  /** `except` lies within `cidr` and takes away from this very peer only. */
  | { readonly is: 'net'; readonly cidr: string; readonly except: readonly string[] }
  | { readonly is: 'nodes'; readonly labels: Selector }
  /** Sets with labels. `namespace`: only sets of this namespace; absent: global sets; `namespaces`: by their labels. */
  | {
      readonly is: 'network-sets';
      readonly labels: Selector;
      readonly namespaces: Selector | 'global';
    }
  | { readonly is: 'host-endpoints'; readonly labels: Selector }
  | { readonly is: 'domains'; readonly names: readonly string[] }
  /** Addresses and, where `withPorts`, also protocol and port of the service's endpoints. */
  | {
      readonly is: 'service';
      readonly namespace: string;
      readonly name: string;
      readonly withPorts: boolean;
    };

/** Any of the peers; with `negate`, none of them. A condition without peers matches nothing (negated: everything). */
export interface PeerCondition {
  readonly peers: readonly Peer[];
  readonly negate?: boolean | undefined;
}

/** Ports from `first` to `last`, both included. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** A protocol with its ports: absent ports are all; a name is looked up at the destination. */
export interface Service {
  /** A name, or an IP protocol number. Absent (named ports of network-policy-api): any of the three that have ports. */
  readonly protocol?: PolicyProtocol | number | undefined;
  readonly ports?: readonly PortRange[] | undefined;
  readonly namedPorts?: readonly string[] | undefined;
}

export interface IcmpMatch {
  readonly type?: number | undefined;
  readonly code?: number | undefined;
}

/** All that is there must hold. */
export interface Rule {
  readonly action: Action;
  /** Only packets of this family. */
  readonly family?: 4 | 6 | undefined;
  /** Any of them; absent: every packet. */
  readonly services?: readonly Service[] | undefined;
  /** None of them. */
  readonly notServices?: readonly Service[] | undefined;
  readonly sourcePorts?: readonly PortRange[] | undefined;
  readonly notSourcePorts?: readonly PortRange[] | undefined;
  readonly icmp?: IcmpMatch | undefined;
  readonly notIcmp?: IcmpMatch | undefined;
  /** Source and destination of the packet: all conditions of a list hold. */
  readonly source: readonly PeerCondition[];
  readonly destination: readonly PeerCondition[];
  /** Path within the object: `spec.ingress[0]`. */
  readonly path: string;
  readonly name?: string | undefined;
}

/** How a policy treats host endpoints (Calico). `normal` for all others. */
export type HostMode = 'normal' | 'forward' | 'pre-dnat' | 'untracked';

export interface Policy {
  /** `referenceKey` of the object; with a suffix where one object gives several. */
  readonly id: string;
  readonly reference: ObjectReference;
  readonly origin?: Origin | undefined;
  /** Name of the tier. */
  readonly tier: string;
  /** Ascending within the tier, then by the name of the object, then by id; absent: behind all that have one. */
  readonly order?: number | undefined;
  readonly subjects: readonly Subject[];
  /** Absent: the policy does not govern this direction. An empty list governs it and allows nothing. */
  readonly ingress?: readonly Rule[] | undefined;
  readonly egress?: readonly Rule[] | undefined;
  readonly hostMode?: HostMode | undefined;
  /** Why the object could not be translated: it closes what it selects, in the directions that it governs. */
  readonly broken?: string | undefined;
}

/** Rules that apply where no tier has decided (Calico's Profile). Without any, an endpoint is open. */
export interface Profile {
  readonly name: string;
  readonly reference: ObjectReference;
  readonly labelsToApply: Readonly<Record<string, string>>;
  readonly ingress: readonly Rule[];
  readonly egress: readonly Rule[];
}

/** Names and orders of the tiers that every cluster has. */
export const builtInTiers: readonly Tier[] = [
  { name: 'admin', order: Number.MIN_SAFE_INTEGER, end: 'pass' },
  { name: 'default', order: 1_000_000, end: 'deny' },
  { name: 'baseline', order: Number.MAX_SAFE_INTEGER, end: 'pass' },
];
