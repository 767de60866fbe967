/**
 * Files among the records that are none. Nothing is known for certain of their endpoints: reconcile takes what carries our mark
 * off the node, their addresses are held, and the file stays until DEL, GC or another ADD of the endpoint.
 */
import type { BrokenRecord } from '../records/record.js';
import { endpointKey } from '@podwire/network-contract';

export interface BrokenRecords {
  add(record: BrokenRecord): void;
  drop(record: BrokenRecord): void;
  ofEndpoint(key: string): readonly BrokenRecord[];
  all(): readonly BrokenRecord[];
  /** For people. */
  problems(): string[];
  /** An address that a pod may have, whosever it is. */
  hold(address: string): void;
  /** Addresses that are not to be handed out, and to whom they belong. */
  held(): readonly HeldAddress[];
}

export interface HeldAddress {
  readonly address: string;
  readonly owner: string;
}

/** Of addresses that a pod has and whose record says nothing. No endpoint has such a key. */
export const unknownOwner = '(unreadable record)';

export function createBrokenRecords(): BrokenRecords {
  const records = new Map<string, BrokenRecord>();
  const unattributed = new Set<string>();
  return {
    add: (record) => void records.set(record.name, record),
    drop({ name }) {
      records.delete(name);
      if (records.size === 0) unattributed.clear();
    },
    ofEndpoint: (key) =>
      [...records.values()].filter(({ id }) => id !== undefined && endpointKey(id) === key),
    all: () => [...records.values()],
    problems: () => [...records.values()].map(({ name, reason }) => `${name}: ${reason}`),
    hold: (address) => void unattributed.add(address),
    held: () => [
      ...[...records.values()].flatMap(addressesIn),
      ...[...unattributed].map((address) => ({ address, owner: unknownOwner })),
    ],
  };
}

/** A record names its leases first, and is small beside this. */
const mostAddresses = 16;

/** The text may be torn, or JSON of any shape, so only what looks like an address counts. */
function addressesIn({ id, text = '' }: BrokenRecord): HeldAddress[] {
  const owner = id === undefined ? unknownOwner : endpointKey(id);
  const found = [...text.matchAll(/"address":\s*"([0-9A-Fa-f:.]{3,45})"/g)].slice(0, mostAddresses);
  return found.map(([, address]) => ({ address: address!, owner }));
}
