/** State of the fake kernel. Lists are replaced or changed in place by the handlers, never by readers. */
import type { InterfaceAddressEntry } from '../address.js';
import type { Filter } from '../filter.js';
import type { ForwardingEntry } from '../forwarding.js';
import type { AddressGenerationMode, InetSetting } from '../link-inet.js';
import type { KindSettings } from '../link-kinds.js';
import type { Neighbour } from '../neighbour.js';
import type { Qdisc } from '../qdisc.js';
import type { Route } from '../route-decoder.js';
import type { Rule } from '../rule.js';
import type { TrafficClass } from '../traffic-class.js';

export interface FakeLink {
  namespace: NamespaceState;
  index: number;
  name: string;
  mac: string;
  mtu: number;
  group: number;
  up: boolean;
  transmitQueueLength: number;
  addressGenerationMode: AddressGenerationMode;
  inetSettings: Partial<Record<InetSetting, number>>;
  kind: string | undefined;
  settings: KindSettings | undefined;
  master: number | undefined;
  parent: number | undefined;
  alias: string | undefined;
  /** The other end of a veth. */
  peer: FakeLink | undefined;
}

export interface NamespaceState {
  readonly name: string;
  readonly links: Map<number, FakeLink>;
  addresses: InterfaceAddressEntry[];
  routes: Route[];
  rules: Rule[];
  neighbours: Neighbour[];
  forwarding: ForwardingEntry[];
  qdiscs: Qdisc[];
  classes: TrafficClass[];
  filters: Filter[];
  /** Ids that this namespace has given to others (`ip netns list-id`). */
  readonly ids: Map<NamespaceState, number>;
  /** The index that a new link got last. */
  lastIndex: number;
  /** The handle that a new qdisc got last. */
  lastQdisc: number;
}

export function emptyNamespace(name: string): NamespaceState {
  return {
    name,
    links: new Map(),
    addresses: [],
    routes: [],
    rules: defaultRules(),
    neighbours: [],
    forwarding: [],
    qdiscs: [],
    classes: [],
    filters: [],
    ids: new Map(),
    lastIndex: 0,
    lastQdisc: 0x8000,
  };
}

function defaultRules(): Rule[] {
  const rule = (family: 4 | 6, priority: number, table: number): Rule => ({
    family,
    priority,
    action: 'table',
    table,
    protocol: 2,
  });
  return [rule(4, 0, 255), rule(4, 32766, 254), rule(4, 32767, 253), rule(6, 0, 255), rule(6, 32766, 254)];
}

/** Context of every handler: the source of the request, and the way to the rest of the kernel. */
export interface FakeContext {
  readonly namespace: NamespaceState;
  /** The namespace that a file descriptor in a request stands for. @throws FakeErrno EBADF */
  namespaceOf(fd: number): NamespaceState;
  /** A link-layer address that no other link has. */
  nextMac(): string;
}
