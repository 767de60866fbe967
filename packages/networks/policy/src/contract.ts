/**
 * Compiled policy as resources of the nftables backend. Pure: deltas of the compiler and links of pods go in, resources to add and to
 * remove come out, and the engine exchanges them in one transaction.
 */
import type { Resource } from '@podwire/engine';
import type { CompiledDelta, EndpointKey } from '@podwire/policy';

/** The table of policy, beside the one of traffic. */
export const policyTable = { family: 'inet', name: 'podwire-policy' } as const;

/** A link on the host's side, with the pod behind it. */
export interface PolicyLink {
  readonly link: string;
  readonly endpoint: EndpointKey;
  /** The pod's addresses on this link: it may send from no other. */
  readonly addresses: readonly string[];
}

/** A link is there, is another endpoint's now, or is gone (`value` absent). */
export interface LinkChange {
  readonly link: string;
  readonly value: PolicyLink | undefined;
}

export interface FailsafePort {
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  readonly port: number;
}

/** Destination ports of what the node receives, and sends. */
export type Failsafes = Readonly<Record<'ingress' | 'egress', readonly FailsafePort[]>>;

export interface RendererOptions {
  /** Beginnings of names of all links of pods: `cali`. */
  readonly podLinkPrefixes: readonly string[];
  /** The group of nflog that dropped packets are reported to. */
  readonly logGroup: number;
  /**
   * Plans the elements that allow a link its source addresses in another table. They travel in the transaction of the
   * link's own, so that they cost an ADD no call. Absent: there are none.
   */
  readonly planSources?: ((link: string, addresses: readonly string[]) => readonly Resource[]) | undefined;
  /** Ports that policy of host endpoints never closes. Absent: those of Calico. */
  readonly failsafes?: Failsafes | undefined;
  /** UDP ports of tunnels between nodes, which are not tracked: no policy of host endpoints closes them. */
  readonly tunnelPorts?: readonly number[] | undefined;
}

/** Resources to change. Resources of `add` take the place of those in `remove` with the same key. */
export interface RenderedDelta {
  readonly add: readonly Resource[];
  readonly remove: readonly Resource[];
}

export interface PolicyRenderer {
  /** The table with its base chains and maps, before any policy is known: all pods are closed. */
  start(): RenderedDelta;
  apply(delta: CompiledDelta, links: readonly LinkChange[]): RenderedDelta;
  /** Everything that is wanted now, in order of creation: what a reconcile compares with. */
  readonly resources: readonly Resource[];
  /** The reason that the prefix of a log entry stands for; undefined where the prefix is of no drop of ours. */
  describeDrop?(prefix: string): DropReason | undefined;
  /** The reason for drops by the rule at a place of a chain; undefined where it drops none, or is not one of ours. */
  describeRule?(place: RulePlace): DropReason | undefined;
}

export interface RulePlace {
  readonly chain: string;
  /** From 0. */
  readonly index: number;
}

/** The prefix of a log entry says which policy has dropped: the renderer's index of policies by number. */
export interface DropReason {
  readonly direction: 'ingress' | 'egress';
  readonly tier?: string | undefined;
  readonly policy?: string | undefined;
  readonly reason: 'rule' | 'end-of-tier' | 'unknown-link' | 'spoofed' | 'broken' | 'default';
}
