/** Blocks of this node's name that an earlier life of it, or an import, has left. */
import {
  type Block,
  blockKind,
  type Allocation,
  allocationRecordKind,
  type Stored,
} from '@podwire/cluster-state';
import { decodeObject, encodeObject } from '@podwire/store';
import { readItem, writeAll } from '../calls.js';
import { type Core, isOurs, presenceCondition } from '../core.js';
import { adoptImported } from './imported.js';

/** Blocks that the cache says are ours by name, but not by instance. */
export function blocksToTakeOver(core: Core): Stored<Block>[] {
  const stored = core.cache.blocksOf(core.node).flatMap((cidr) => core.cache.blocks.get(cidr) ?? []);
  return stored.filter(({ value }) => !isOurs(core, value));
}

/**
 * Makes it this life's. The pods of an earlier boot are dead, so what its books say is free. An imported block
 * has never been anybody's instance: what its books say may be alive, and stays in use until somebody says otherwise.
 * @throws as the store does
 */
export async function takeOver(
  core: Core,
  { key, value, revision }: Stored<Block>,
  signal: AbortSignal,
): Promise<void> {
  const others = value.instance === undefined ? await readLedger(core, value.cidr, signal) : [];
  const block: Block = { ...value, instance: core.instance, state: 'confirmed' };
  // First what is in use: from the moment on that the block is ours, it could be handed out.
  adoptImported(core, others);
  // And in the file: a life after this one finds a block of its own, and looks into no books of others.
  if (others.length > 0) core.changed();
  core.faults.reach('take-over:read');
  const conditions = [{ key, expect: revision }, presenceCondition(core)];
  const writes = [{ op: 'put', key, value: encodeObject(blockKind, block) }] as const;
  const written = await writeAll(core, { conditions, writes }, signal);
  if (written === undefined) return;
  core.cache.note(key, block, written);
  core.reportBooks(block.cidr);
  core.log.info(
    { block: block.cidr, instance: value.instance, imported: others.length },
    'took over a block that this node had before',
  );
}

async function readLedger(core: Core, cidr: string, signal: AbortSignal): Promise<readonly Allocation[]> {
  const key = core.keys.allocationRecord(cidr, core.node);
  const item = await readItem(core, key, signal);
  return item === undefined ? [] : decodeObject(allocationRecordKind, key, item.value).entries;
}
