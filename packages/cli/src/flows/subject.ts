/** The pod whose flows are shown, and the flows that are about it. Pure. */
import type { Flow } from '@podwire/openflow';
import type { BridgeDump } from './read.js';

export interface Subject {
  readonly name: string;
  readonly addresses: readonly string[];
  /** Numbers of ports of the bridge. */
  readonly ports: readonly number[];
}

export interface Named {
  readonly name: string;
  readonly addresses: readonly string[];
  /** Name of the pod's link on the node; absent when no agent was asked. */
  readonly link?: string;
}

/** A port of the bridge has the name of the link. Without that name, what comes from the address alone has its port. */
export function findSubject(
  { name, addresses, link }: Named,
  { flows, ports }: Pick<BridgeDump, 'flows' | 'ports'>,
): Subject {
  const named = ports.filter((port) => port.name === link).map(({ port }) => port);
  const used = flows.flatMap(({ flow: { match = {} } }) => {
    const source = match.ip_src ?? match.arp_spa;
    return typeof source === 'string' && addresses.includes(source) ? [match.in_port] : [];
  });
  const found = new Set((named.length > 0 ? named : used).filter((port) => typeof port === 'number'));
  return { name, addresses, ports: [...found].sort((a, b) => a - b) };
}

/** Members of matches and actions that hold the number of a port. */
const portKeys = ['in_port', 'in_port_nxm', 'actset_output', 'port'];

/** Reports if a flow has an address or a port of the subject anywhere in its match or its actions. */
export function isAbout(flow: Flow, { addresses, ports }: Subject): boolean {
  const mentions = (value: unknown, key: string): boolean => {
    if (typeof value === 'number') return portKeys.includes(key) && ports.includes(value);
    // Addresses of NAT may be a range.
    if (typeof value === 'string') return value.split('-').some((part) => addresses.includes(part));
    if (typeof value !== 'object' || value === null) return false;
    return Object.entries(value).some(([name, member]) => mentions(member, name));
  };
  return mentions(flow, '');
}
