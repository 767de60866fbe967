/** Records of pods and nodes, as plans read them. Pure. */
import { nodeKind, ovnPodKind, type OvnPodRecord } from '@podwire/cluster-state';
import type { PodObject } from '../pods/contract.js';
import { decodeObject, type Item, type Revision } from '@podwire/store';

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
}

/** A node that cannot be read is there all the same, and keeps its end of the subnet `join`. */
export function readNode({ key, value }: Item, prefix: string): ReadNode {
  const name = key.slice(prefix.length);
  try {
    const { ipv4, ipv6 } = decodeObject(nodeKind, key, value).addresses;
    const addresses = [ipv4, ipv6].flatMap((text) => (text === undefined ? [] : text.split('/')[0]!));
    return { name, addresses };
  } catch {
    return { name, addresses: [] };
  }
}
