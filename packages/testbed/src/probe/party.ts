/** Who takes part in a test of connectivity. */
import type { Family } from '@podwire/linux';
import type { TestbedNamespace } from '../net/namespaces.js';

export type Addresses = Readonly<Partial<Record<Family, string>>>;

export interface Party {
  /** `default/pod1a`, `node1`, `outside`: unique. */
  readonly name: string;
  readonly kind: 'pod' | 'node' | 'outside';
  /** Where it is; absent outside. */
  readonly node?: string;
  readonly addresses: Addresses;
  /** Further addresses of it, with which it may complain: those of a router's links. */
  readonly aliases?: readonly string[];
  /** It is on another machine: it cannot be asked, and answers to ICMP alone. */
  readonly remote?: boolean;
}

/** A party that can be asked and answers: its sockets are this process's, in its namespace. */
export interface Station extends Party {
  /** A pod's link; `eth0` when absent. */
  readonly link?: string;
  readonly namespace: TestbedNamespace;
}

/** An address that nobody has, of a block of this node. */
export interface Vacancy {
  readonly node: string;
  readonly address: string;
}
