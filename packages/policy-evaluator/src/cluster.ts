/** Inputs of the evaluator: objects as they were written, and facts about pods, namespaces, nodes and services. */
import type { AnyObject } from '@podwire/objects';

export type Labels = Readonly<Record<string, string>>;

export type PortProtocol = 'tcp' | 'udp' | 'sctp';

/** Only what decides. Addresses are text without a length. */
export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  readonly addresses: readonly string[];
  readonly node: string;
  readonly ports: readonly {
    readonly name: string;
    readonly protocol: PortProtocol;
    readonly port: number;
  }[];
  readonly serviceAccount?: string | undefined;
  readonly hostNetwork?: boolean | undefined;
}

/** One that is not listed has no label but its name. */
export interface Namespace {
  readonly name: string;
  readonly labels: Labels;
}

export interface Node {
  readonly name: string;
  readonly labels: Labels;
  readonly addresses: readonly string[];
}

export interface Service {
  readonly namespace: string;
  readonly name: string;
  readonly endpoints: readonly {
    readonly addresses: readonly string[];
    readonly ports: readonly { readonly protocol: PortProtocol; readonly port: number }[];
  }[];
}

export interface Cluster {
  readonly objects: readonly AnyObject[];
  readonly pods: readonly Pod[];
  readonly namespaces?: readonly Namespace[] | undefined;
  readonly nodes: readonly Node[];
  readonly services?: readonly Service[] | undefined;
}

/** A pod by `namespace/name`, a node by its name, or any address. */
export type Party = { readonly pod: string } | { readonly node: string } | { readonly address: string };

/** One connection by its first packet, after translation of addresses. */
export interface Connection {
  readonly from: Party;
  readonly to: Party;
  readonly protocol: PortProtocol | 'icmp' | 'icmpv6' | number;
  readonly port?: number | undefined;
  readonly sourcePort?: number | undefined;
  readonly icmp?: { readonly type: number; readonly code: number } | undefined;
  /** Which of the parties' addresses are meant; 4 by default. An address says so itself. */
  readonly family?: 4 | 6 | undefined;
}

/** The reason for the decision on one side of the connection. */
export interface Why {
  readonly verdict: 'allow' | 'deny';
  /**
   * `rule`: the first that matched. `end-of-tier`: a policy of the tier selects the pod, and no rule matched. `default`: no policy
   * had a say. `unprotected`: the side is not a pod. `own-node`: a node may reach its own pods. `itself`: a pod may reach itself.
   * `failsafe`: ports of a node that policy never closes.
   */
  readonly reason:
    | 'rule'
    | 'end-of-tier'
    | 'end-of-profiles'
    | 'default'
    | 'unprotected'
    | 'own-node'
    | 'itself'
    | 'failsafe'
    | 'unreachable';
  /** `networking.k8s.io/v1 NetworkPolicy shop/web`; at the end of a tier the last that governs the direction. */
  readonly object?: string | undefined;
  /** `spec.ingress[0]` */
  readonly path?: string | undefined;
  readonly tier?: string | undefined;
}

export interface Evaluation {
  readonly verdict: 'allow' | 'deny';
  readonly egress: Why;
  readonly ingress: Why;
}
