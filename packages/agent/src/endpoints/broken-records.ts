/**
 * Record files that cannot be read. Nothing is known for certain about their endpoints: reconcile removes what carries our mark,
 * their addresses are held, and the file stays until DEL, GC or another ADD of the endpoint.
 */
import { containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import type { Clock } from '@podwire/ipam';
import { endpointKey } from '@podwire/network-contract';
import type { ClusterMember } from '../cluster/contract.js';
import type { Log } from '../log.js';
import type { Network } from '../networks.js';
import type { BrokenRecord, RecordStore } from '../records/record.js';
import type { EndpointRegistry } from './registry.js';

export interface BrokenRecords {
  add(record: BrokenRecord): void;
  drop(record: BrokenRecord): void;
  ofEndpoint(key: string): readonly BrokenRecord[];
  all(): readonly BrokenRecord[];
  /** For the status. */
  problems(): string[];
  /** Holds an address that some pod may have. */
  hold(address: string): void;
  /** Addresses that must not be allocated, with their owners. */
  held(): readonly HeldAddress[];
}

export interface HeldAddress {
  readonly address: string;
  readonly owner: string;
}

/** The owner of addresses whose record cannot be read. No endpoint has such a key. */
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

/** A record lists its leases first, and has fewer. */
const mostAddresses = 16;

/** The text may be torn, or JSON of any shape, so only what looks like an address counts. */
function addressesIn({ id, text = '' }: BrokenRecord): HeldAddress[] {
  const owner = id === undefined ? unknownOwner : endpointKey(id);
  const found = [...text.matchAll(/"address":\s*"([0-9A-Fa-f:.]{3,45})"/g)].slice(0, mostAddresses);
  return found.map(([, address]) => ({ address: address!, owner }));
}

interface HeldContext {
  readonly broken: BrokenRecords;
  readonly networks: readonly Network[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps held addresses from being allocated. Repeated by each reconcile, since pools change. */
export function adoptHeld({ broken, networks, clock, log }: HeldContext): void {
  for (const { address, owner } of broken.held()) {
    const ipam = networks.find((network) => isIn(network, address))?.ipam;
    try {
      ipam?.adopt({ address, pool: '', owner, since: clock() });
    } catch (err) {
      log.debug({ err, address, owner }, 'an address of an unreadable record has another owner');
    }
  }
}

function isIn({ pools }: Network, text: string): boolean {
  try {
    const address = parseAddress(text);
    return pools.some(({ cidr }) => containsAddress(parsePrefix(cidr), address));
  } catch {
    return false;
  }
}

interface ClearContext {
  readonly broken: BrokenRecords;
  readonly records: RecordStore;
  readonly log: Log;
  readonly endpoints: EndpointRegistry;
  readonly networks: readonly Network[];
  readonly cluster?: ClusterMember;
}

/**
 * Removes what is left of an endpoint whose record cannot be read: the file, and the hold on its addresses. The caller holds its lock.
 * @throws PodwireError RECORD_IO
 */
export function clearBroken(context: ClearContext, key: string): void {
  const { broken, records, log } = context;
  for (const record of broken.ofEndpoint(key)) {
    records.discard(record);
    const before = owners(broken);
    broken.drop(record);
    const after = owners(broken);
    for (const owner of before) if (!after.has(owner)) release(context, owner);
    log.info({ file: record.name, endpoint: key }, 'removed an unreadable record');
  }
}

const owners = (broken: BrokenRecords): Set<string> => new Set(broken.held().map(({ owner }) => owner));

function release({ endpoints, networks, cluster }: ClearContext, owner: string): void {
  // There may be a readable record of it too, and a pod.
  if (endpoints.get(owner) !== undefined) return;
  const leases = networks.flatMap(({ ipam }) => ipam.release(owner));
  for (const { address } of leases) cluster?.addressing.noteFree(address);
}
