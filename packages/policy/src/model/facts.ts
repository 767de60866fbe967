/** Facts about the things that policy speaks of. Their publisher is no concern of this package. */

export type Labels = Readonly<Record<string, string>>;

export type PolicyProtocol = 'tcp' | 'udp' | 'sctp';

export interface NamedPort {
  readonly name: string;
  readonly protocol: PolicyProtocol;
  readonly port: number;
}

/** `namespace/name` */
export type PodKey = string;

export interface PodFact {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  /** Canonical text, without a length; IPv4 and IPv6. */
  readonly addresses: readonly string[];
  readonly node: string;
  readonly ports: readonly NamedPort[];
  readonly serviceAccount?: string | undefined;
  /** It is its node: pod selectors never match it, and policy that selects pods never applies to it. */
  readonly hostNetwork?: boolean | undefined;
}

export interface NamespaceFact {
  readonly name: string;
  /** `kubernetes.io/metadata.name` is always among them. */
  readonly labels: Labels;
}

export interface NodeFact {
  readonly name: string;
  readonly labels: Labels;
  readonly addresses: readonly string[];
}

/** A Service with what its endpoints are now. */
export interface ServiceFact {
  readonly namespace: string;
  readonly name: string;
  readonly endpoints: readonly {
    readonly addresses: readonly string[];
    readonly ports: readonly { readonly protocol: PolicyProtocol; readonly port: number }[];
  }[];
}

/** Calico's NetworkSet and GlobalNetworkSet: prefixes with labels that selectors match. */
export interface NetworkSetFact {
  /** Of a NetworkSet. */
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly labels: Labels;
  /** ADDRESS/LENGTH */
  readonly nets: readonly string[];
}

/** Calico's HostEndpoint: an interface of a node that policy applies to. */
export interface HostEndpointFact {
  readonly name: string;
  readonly labels: Labels;
  readonly node: string;
  /** Name of the link; `*`: all of the node's own. */
  readonly interfaceName?: string | undefined;
  readonly expectedIPs: readonly string[];
  readonly profiles: readonly string[];
}

/** Addresses that a domain name has now. */
export interface DomainFact {
  /** `example.com`, `*.example.com`; lower case, without a dot at the end. */
  readonly name: string;
  readonly addresses: readonly string[];
}
