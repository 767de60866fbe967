/** Facts with the labels that selectors see, and what each gives to a set. */
import { familyOf, formatAddress, tryParseAddress } from '@podwire/addresses';
import type {
  DomainFact,
  HostEndpointFact,
  Labels,
  NetworkSetFact,
  NodeFact,
  PodFact,
  PodKey,
  ServiceFact,
} from '../model/facts.js';
import { matchSelector } from '../selectors/match.js';
import type { Family } from './contract.js';
import type { Selection, SetPart } from './parts.js';

/** A pod as selections see it. Never changed: another one takes its place. */
export interface PodEntry {
  readonly key: PodKey;
  readonly fact: PodFact;
  readonly labels: Labels;
  readonly namespaceLabels: Labels;
}

/** Anything else that gives members to sets. */
export type Thing =
  | { readonly from: 'nodes'; readonly fact: NodeFact; readonly labels: Labels }
  | { readonly from: 'host-endpoints'; readonly fact: HostEndpointFact; readonly labels: Labels }
  | {
      readonly from: 'network-sets';
      readonly fact: NetworkSetFact;
      readonly labels: Labels;
      readonly namespaceLabels: Labels;
    }
  | { readonly from: 'domain'; readonly fact: DomainFact }
  | { readonly from: 'service'; readonly fact: ServiceFact };

/** Pods with the network of their node are their node. */
export function selectsPod({ node, namespaces, pods, serviceAccounts }: Selection, pod: PodEntry): boolean {
  const { fact, labels, namespaceLabels } = pod;
  if (fact.hostNetwork === true || (node !== undefined && node !== fact.node)) return false;
  if (!matchSelector(namespaces, namespaceLabels) || !matchSelector(pods, labels)) return false;
  return serviceAccounts === undefined || matchSelector(serviceAccounts, labels);
}

/** Members of a set from a pod that the part selects. */
export function membersOfPod(
  part: Extract<SetPart, { from: 'pods' }>,
  { fact }: PodEntry,
  family: Family,
): string[] {
  const addresses = fact.addresses.filter((address) => familyOf(address) === family);
  const { port } = part;
  if (port === undefined) return addresses;
  const ports = fact.ports.filter(
    ({ name, protocol }) => name === port.name && (port.protocol ?? protocol) === protocol,
  );
  return addresses.flatMap((address) => ports.map((each) => `${address},${each.protocol},${each.port}`));
}

/** Things of one name give members to the parts that ask for it. */
export function channelOfPart(part: SetPart): string {
  if (part.from === 'domain') return `domain ${part.name}`;
  return part.from === 'service' ? `service ${part.key}` : part.from;
}

export function channelOfThing(thing: Thing): string {
  if (thing.from === 'domain') return `domain ${thing.fact.name}`;
  return thing.from === 'service' ? `service ${thing.fact.namespace}/${thing.fact.name}` : thing.from;
}

/** Members from a thing of the part's own channel: prefixes as they are written, all else canonical. */
export function membersOfThing(part: SetPart, thing: Thing, family: Family): string[] {
  if (part.from === 'service' && thing.from === 'service')
    return membersOfService(part.withPorts, thing.fact, family);
  if (part.from === 'domain' && thing.from === 'domain') return canonical(thing.fact.addresses, family);
  if (part.from === 'nodes' && thing.from === 'nodes')
    return matchSelector(part.labels, thing.labels) ? canonical(thing.fact.addresses, family) : [];
  if (part.from === 'host-endpoints' && thing.from === 'host-endpoints')
    return matchSelector(part.labels, thing.labels) ? canonical(thing.fact.expectedIPs, family) : [];
  if (part.from === 'network-sets' && thing.from === 'network-sets') {
    const isSelected = isInNamespaces(part.namespaces, thing) && matchSelector(part.labels, thing.labels);
    return isSelected ? thing.fact.nets.filter((net) => familyOf(net) === family) : [];
  }
  return [];
}

type NetworkSet = Extract<Thing, { from: 'network-sets' }>;
type Namespaces = Extract<SetPart, { from: 'network-sets' }>['namespaces'];

function isInNamespaces(namespaces: Namespaces, { fact, namespaceLabels }: NetworkSet): boolean {
  if (namespaces === 'global' || fact.namespace === undefined)
    return namespaces === 'global' && fact.namespace === undefined;
  return matchSelector(namespaces, namespaceLabels);
}

function membersOfService(withPorts: boolean, { endpoints }: ServiceFact, family: Family): string[] {
  return endpoints.flatMap(({ addresses, ports }) => {
    const own = canonical(addresses, family);
    if (!withPorts) return own;
    return own.flatMap((address) => ports.map(({ protocol, port }) => `${address},${protocol},${port}`));
  });
}

function canonical(addresses: readonly string[], family: Family): string[] {
  return addresses.flatMap((text) => {
    const address = tryParseAddress(text);
    return address?.family === family ? [formatAddress(address)] : [];
  });
}
