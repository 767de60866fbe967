/** Addresses in use that an import has found: no endpoint record of this node has them, but their pods may run. */
import { parseAddress } from '@podwire/addresses';
import { type Allocation, type AllocationRecord, allocationRecordKind } from '@podwire/cluster-state';
import { describeError } from '@podwire/errors';
import type { Ipam } from '@podwire/ipam';
import type { Log } from '@podwire/platform';
import { decodeObject, encodeObject, type Item, type Revision } from '@podwire/store';
import type { ClusterStore } from '../cluster-store.js';
import { type AddressingEvents, forEachTolerant } from '../events.js';
import type { NodePools } from '../node-pools.js';
import { type AllocationState, cidrOfAddress, recordOf } from './allocation-state.js';

export interface ImportedOptions {
  readonly store: ClusterStore;
  readonly state: AllocationState;
  readonly pools: NodePools;
  readonly ipams: ReadonlyMap<string, Ipam>;
  readonly events: AddressingEvents;
  readonly log: Log;
}

export class ImportedAddresses {
  readonly #options: ImportedOptions;
  /** By address. */
  readonly #entries = new Map<string, Allocation>();

  constructor(options: ImportedOptions) {
    this.#options = options;
  }

  all(): Allocation[] {
    return [...this.#entries.values()];
  }

  has(address: string): boolean {
    return this.#entries.has(address);
  }

  load(entries: readonly Allocation[]): void {
    for (const entry of entries) this.#entries.set(entry.address, entry);
  }

  /** An endpoint of this node has the address. */
  forget(address: string): void {
    this.#entries.delete(address);
  }

  /** Takes them as in use, unless a pod of this node is known to have them. */
  adopt(entries: readonly Allocation[]): void {
    const { state } = this.#options;
    for (const entry of entries) {
      if (state.allocation(entry.address) !== undefined) continue;
      state.use(entry);
      this.#entries.set(entry.address, entry);
      this.adoptLease(entry);
    }
  }

  /** For IPAM; again when an IPAM is attached later. */
  adoptLease(entry: Allocation): void {
    this.adoptInUse(ownerOf(entry), entry);
  }

  /** For the IPAM of the address's pool; for all of them while the pool is not known. */
  adoptInUse(owner: string, { address, since }: Allocation): void {
    const { pools, ipams, log } = this.#options;
    const network = pools.around(parseAddress(address))?.network;
    for (const [name, ipam] of ipams) {
      if (network !== undefined && network !== name) continue;
      try {
        ipam.adopt({ address, owner, pool: '', since });
      } catch (err) {
        log.warn({ address, owner, err }, `an address is in use already: ${describeError(err)}`);
      }
    }
  }

  /**
   * Verifies borrowed addresses that this life of the node has not requested. They were borrowed by an import, for pods that may
   * run, or by an earlier life of the node, whose pods are dead.
   * @throws as the store does; RECORD_IO
   */
  async verifyBorrowed(signal: AbortSignal): Promise<void> {
    const { state, log } = this.#options;
    const unverified = state.borrowed().filter(({ isUnverified }) => isUnverified === true);
    const blocks = new Set(unverified.map(recordOf));
    await forEachTolerant(log, blocks, signal, async (block) => {
      const ofBlock = unverified.filter((each) => recordOf(each) === block);
      await this.#adoptRecord(block, new Set(ofBlock.map(({ cidr }) => cidr)), signal);
      for (const each of ofBlock) each.isUnverified = false;
    });
  }

  async #adoptRecord(block: string, cidrs: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { store, events } = this.#options;
    const key = store.keys.allocationRecord(block, store.node);
    const item = await store.read(key, signal);
    const record = item && decodeObject(allocationRecordKind, key, item.value);
    if (record?.imported !== true) return;
    this.adopt(record.entries.filter(({ address }) => cidrs.has(cidrOfAddress(address))));
    events.changed();
    await this.#takeOverRecord(item!, record, signal);
  }

  /** The record becomes the node's own: after its next boot none of the pods runs. */
  async #takeOverRecord(
    { key, revision }: Item,
    { imported: _, ...own }: AllocationRecord,
    signal: AbortSignal,
  ): Promise<void> {
    const { store } = this.#options;
    const conditions = [{ key, expect: revision }, store.leaseCondition()];
    const writes = [{ op: 'put', key, value: encodeObject(allocationRecordKind, own) }] as const;
    await store.write({ conditions, writes }, signal);
  }

  /**
   * Frees the addresses of these blocks that were removed from the store's records (`podwire ipam release`).
   * @returns the revisions of the records that were read: the next report must expect them. @throws as the store does
   */
  async freeReleased(
    blocks: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Revision>> {
    const { store } = this.#options;
    const seen = new Map<string, Revision>();
    for (const block of this.blocks()) {
      if (!blocks.has(block)) continue;
      const key = store.keys.allocationRecord(block, store.node);
      const item = await store.read(key, signal);
      if (item !== undefined) seen.set(block, item.revision);
      const listed = item === undefined ? [] : decodeObject(allocationRecordKind, key, item.value).entries;
      this.#freeUnlisted(block, new Set(listed.map(({ address }) => address)));
    }
    return seen;
  }

  /** Blocks with imported addresses. */
  blocks(): Set<string> {
    const blocks = this.all().map(({ address }) => this.#blockOf(address));
    return new Set(blocks.filter((block) => block !== undefined));
  }

  #blockOf(address: string): string | undefined {
    const affinity = this.#options.state.around(parseAddress(address));
    return affinity && recordOf(affinity);
  }

  #freeUnlisted(block: string, listed: ReadonlySet<string>): void {
    const { state, ipams, log } = this.#options;
    for (const entry of this.all()) {
      const { address, owner } = entry;
      if (listed.has(address) || this.#blockOf(address) !== block) continue;
      this.#entries.delete(address);
      state.free(address);
      for (const ipam of ipams.values()) ipam.release(ownerOf(entry));
      log.info({ address, owner }, 'an imported address was released');
    }
  }
}

/** Never the key of an endpoint. Each address has its own: a handle of Calico may have several, which are released one by one. */
const ownerOf = ({ address, owner }: Allocation): string => `imported:${owner}:${address}`;
