/** Records of pods and nodes, as plans read them. Pure. */
import { type Node, nodeKind, ovnPodKind, type OvnPodRecord } from '@podwire/cluster-state';
import type { PodObject } from '../pods/contract.js';
import { providerFacts } from '@podwire/objects/kube-ovn-names';
import { decodeObject, type Item, type Revision } from '@podwire/store';
import type { ProviderStates } from '../cluster/contract.js';

export interface PodRecord {
  readonly key: string;
  readonly revision: Revision;
  readonly record: OvnPodRecord;
}

export interface ReadPod {
  /** NAMESPACE/NAME */
  readonly id: string;
  /** Absent for what cannot be read. */
  readonly found?: PodRecord;
}

/** @param prefix of records of pods */
export function readPod({ key, value, revision }: Item, prefix: string): ReadPod {
  const id = key.slice(prefix.length);
  try {
    const record = decodeObject(ovnPodKind, key, value);
    return id === `${record.namespace}/${record.name}` ? { id, found: { key, revision, record } } : { id };
  } catch {
    return { id };
  }
}

export const toPod = ({ record }: PodRecord): PodObject => ({ ...record, hasEnded: false });

export interface ReadNode {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly providers: ProviderStates;
}

/** A node that cannot be read is there all the same, and keeps its end of the subnet `join`. */
export function readNode({ key, value }: Item, prefix: string): ReadNode {
  const name = key.slice(prefix.length);
  try {
    const { addresses: own, facts = {} } = decodeObject(nodeKind, key, value);
    const addresses = [own.ipv4, own.ipv6].flatMap((text) => (text === undefined ? [] : text.split('/')[0]!));
    return { name, addresses, providers: readProviders(facts) };
  } catch {
    return { name, addresses: [], providers: {} };
  }
}

function readProviders({ [providerFacts.model]: facts = {} }: NonNullable<Node['facts']>): ProviderStates {
  const { prefix } = providerFacts;
  const own = Object.entries(facts).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(own.map(([name, text]) => [name.slice(prefix.length), text]));
}
