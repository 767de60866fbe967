/** Participants of a connectivity test. */
import type { Family } from '@podwire/addresses';
import type { TestbedNamespace } from '../net/namespaces.js';

export type Addresses = Readonly<Partial<Record<Family, string>>>;

export interface Participant {
  /** `default/pod1a`, `node1`, `outside`: unique. */
  readonly name: string;
  readonly kind: 'pod' | 'node' | 'outside';
  /** Its node; absent outside. */
  readonly node?: string;
  readonly addresses: Addresses;
  /** Further source addresses of its ICMP errors: those of a router's links. */
  readonly aliases?: readonly string[];
  /** On another machine: it cannot start probes, and answers ICMP only. */
  readonly remote?: boolean;
}

/** A participant that starts and answers probes: this process opens sockets in its namespace. */
export interface Station extends Participant {
  /** A pod's link; `eth0` when absent. */
  readonly link?: string;
  readonly namespace: TestbedNamespace;
}

/** An unallocated address of a block of this node. */
export interface UnusedAddress {
  readonly node: string;
  readonly address: string;
}
