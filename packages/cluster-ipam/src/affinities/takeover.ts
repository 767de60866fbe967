/** Takes over blocks that an earlier life of the node, or an import, has left under its name. */
import { type Allocation, allocationRecordKind, type Block, type Stored } from '@podwire/cluster-state';
import type { FaultPoints, Log } from '@podwire/platform';
import { decodeObject } from '@podwire/store';
import type { ClusterStore } from '../cluster-store.js';
import type { AddressingEvents } from '../events.js';
import type { ImportedAddresses } from './imported.js';

export interface TakeoverParts {
  readonly store: ClusterStore;
  readonly instance: string;
  readonly imported: ImportedAddresses;
  readonly events: AddressingEvents;
  readonly faults: FaultPoints;
  readonly log: Log;
}

/** Blocks of this node's name and another instance. */
export function blocksToTakeOver(store: ClusterStore): Stored<Block>[] {
  const { cache, node } = store;
  const stored = cache.blocksOf(node).flatMap((cidr) => cache.blocks.get(cidr) ?? []);
  return stored.filter(({ value }) => !store.owns(value));
}

/**
 * The pods of an earlier boot are dead, so the addresses of its allocation record are free. An imported block never had an
 * instance: its pods may run, and its addresses stay in use until they are released.
 * @throws as the store does
 */
export async function takeOverBlock(
  parts: TakeoverParts,
  stored: Stored<Block>,
  signal: AbortSignal,
): Promise<void> {
  const { store, instance, imported, events, faults, log } = parts;
  const { value } = stored;
  const allocations = value.instance === undefined ? await readRecord(store, value.cidr, signal) : [];
  // Before the block is the node's own, since it could be allocated from then on.
  imported.adopt(allocations);
  // Also in the saved state: the next life finds a block of its own, and reads no imported record.
  if (allocations.length > 0) events.changed();
  faults.reach('take-over:read');
  const block: Block = { ...value, instance, state: 'confirmed' };
  const conditions = [store.leaseCondition()];
  if (!(await store.replaceBlock(stored, block, signal, { conditions }))) return;
  events.report(block.cidr);
  const fields = { block: block.cidr, instance: value.instance, imported: allocations.length };
  log.info(fields, 'took over a block of an earlier life of this node');
}

async function readRecord(
  store: ClusterStore,
  cidr: string,
  signal: AbortSignal,
): Promise<readonly Allocation[]> {
  const key = store.keys.allocationRecord(cidr, store.node);
  const item = await store.read(key, signal);
  return item === undefined ? [] : decodeObject(allocationRecordKind, key, item.value).entries;
}
