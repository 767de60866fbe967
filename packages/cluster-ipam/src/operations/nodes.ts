/** The cluster's nodes as people ask for them. Pure. */
import type { Node } from '@podwire/cluster-state';
import { compact } from '@podwire/platform';
import type { ClusterSnapshot } from './snapshot.js';
import { compareCidrs } from './text.js';

export interface NodeShown {
  readonly name: string;
  /**
   * `ready`: its agent is in touch with the store. `unreachable`: it is not; its pods may well work. `unregistered`: blocks are
   * its own by name, but no agent of this name has ever registered (an import), or it was forgotten.
   */
  readonly state: 'ready' | 'unreachable' | 'unregistered';
  /** Milliseconds since the epoch: of its state. Absent when no controller has seen it. */
  readonly since?: number;
  readonly version?: string;
  readonly instance?: string;
  readonly addresses: Node['addresses'];
  readonly labels: Node['labels'];
  readonly tunnel?: Node['tunnel'];
  readonly mtu?: number;
  readonly asn?: number;
  readonly blocks: readonly string[];
  /** Addresses of other nodes' blocks. */
  readonly borrowed: readonly string[];
  /** How many it has reported. */
  readonly inUse: number;
}

/** In order of names. */
export function showNodes(snapshot: ClusterSnapshot): NodeShown[] {
  const blocks = new Map<string, string[]>();
  const borrowed = new Map<string, string[]>();
  const inUse = new Map<string, number>();
  for (const { value } of snapshot.blocks.values()) {
    if (value.node !== undefined) add(blocks, value.node, value.cidr);
    for (const { node, address } of value.loans) add(borrowed, node, address);
  }
  for (const { value } of snapshot.allocationRecords) {
    inUse.set(value.node, (inUse.get(value.node) ?? 0) + value.entries.length);
  }
  const names = new Set([...snapshot.nodes.keys(), ...blocks.keys(), ...borrowed.keys(), ...inUse.keys()]);
  return [...names].sort().map((name) => ({
    name,
    ...stateOf(snapshot, name),
    ...factsOf(snapshot.nodes.get(name)?.value),
    blocks: (blocks.get(name) ?? []).sort(compareCidrs),
    borrowed: (borrowed.get(name) ?? []).sort(compareCidrs),
    inUse: inUse.get(name) ?? 0,
  }));
}

function add(groups: Map<string, string[]>, name: string, member: string): void {
  const group = groups.get(name);
  if (group === undefined) groups.set(name, [member]);
  else group.push(member);
}

function stateOf(
  { nodes, nodeLeases, unreachable }: ClusterSnapshot,
  name: string,
): Pick<NodeShown, 'state' | 'since'> {
  const presence = nodeLeases.get(name)?.value;
  if (presence !== undefined) return { state: 'ready', since: presence.since };
  if (!nodes.has(name)) return { state: 'unregistered' };
  const absence = unreachable.get(name)?.value;
  return { state: 'unreachable', ...compact({ since: absence?.since }) };
}

function factsOf(node: Node | undefined) {
  if (node === undefined) return { addresses: {}, labels: {} };
  const { version, instance, addresses, labels, tunnel, mtu, asn } = node;
  return {
    version,
    instance,
    addresses,
    labels,
    mtu,
    ...compact({ tunnel, asn }),
  };
}
