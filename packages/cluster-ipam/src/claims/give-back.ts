/** Giving blocks back to the cluster: announced first, so that nobody sends anything there when the next owner begins. */
import { type Block, blockKind, type Stored } from '@podwire/cluster-state';
import { encodeObject, type Write } from '@podwire/store';
import { writeAll } from '../calls.js';
import { type Core, isOurs, presenceCondition } from '../core.js';
import { disown } from '../disown.js';
import { forEach } from '../each.js';
import type { Held } from '../holdings/book.js';
import { surplusBlocks } from './stock.js';

/** What is empty leaves IPAM, and what is too much is announced. @throws as the store does; RECORD_IO */
export async function announceSurplus(core: Core, signal: AbortSignal): Promise<void> {
  for (const ipam of core.ipams.values()) ipam.releaseEmptyBlocks();
  // Looked for anew each time: while one is announced, IPAM may take another out of the stock.
  for (let held = surplusBlocks(core)[0]; held !== undefined; held = surplusBlocks(core)[0]) {
    markGoing(core, held);
    core.faults.reach('give-back:announced');
    await writeState(core, held.cidr, 'pendingDeletion', signal);
  }
}

/**
 * The file first: a life after this one must not hand out of it without the store's word. Without it, it does not go.
 * @throws RECORD_IO
 */
export function markGoing(core: Core, held: Held): void {
  const { state, since } = held;
  held.state = 'pendingDeletion';
  held.since = core.clock.elapsed();
  try {
    core.changed();
  } catch (error) {
    held.state = state;
    held.since = since;
    throw error;
  }
}

/** Elapsed milliseconds at which the next announced block can go. */
export function nextGiveBack({ book, timing }: Core): number {
  const going = book.blocks().filter(({ state }) => state === 'pendingDeletion');
  return Math.min(...going.map(({ since }) => since + timing.giveBackAfter));
}

/** @throws as the store does */
export async function giveBackAnnounced(core: Core, signal: AbortSignal): Promise<void> {
  const now = core.clock.elapsed();
  await forEach(core, core.book.blocks(), signal, async (held) => {
    if (held.state !== 'pendingDeletion' || now - held.since < core.timing.giveBackAfter) return;
    if (isNeeded(held)) await keep(core, held, signal);
    else await giveBack(core, held, signal);
  });
}

/** An announcement of an earlier life may have been on its way until now, when IPAM has the block again. */
const isNeeded = ({ used, isOpen }: Held): boolean => used > 0 || isOpen;

/** It is written in any case: an attempt to give it back may be on its way, and expects the block as it was. */
async function keep(core: Core, held: Held, signal: AbortSignal): Promise<void> {
  const stored = core.cache.blocks.get(held.cidr);
  if (stored === undefined || !isOurs(core, stored.value)) return;
  if (!(await putState(core, stored, 'confirmed', signal))) return;
  held.state = 'confirmed';
  core.changed();
}

async function giveBack(core: Core, held: Held, signal: AbortSignal): Promise<void> {
  const stored = core.cache.blocks.get(held.cidr);
  if (stored === undefined || !isOurs(core, stored.value)) return;
  const { key, value, revision } = stored;
  const rest = disown(value, value.loans);
  const write: Write =
    rest.loans.length === 0
      ? { op: 'delete', key }
      : { op: 'put', key, value: encodeObject(blockKind, rest) };
  const ledger: Write = { op: 'delete', key: core.keys.allocationRecord(held.cidr, core.node) };
  const conditions = [{ key, expect: revision }, presenceCondition(core)];
  const done = await writeAll(core, { conditions, writes: [write, ledger] }, signal);
  core.faults.reach('give-back:written');
  if (done === undefined) return;
  if (write.op === 'delete') core.cache.noteGone(key, done);
  else core.cache.note(key, rest, done);
}

/** @returns whether it is so in the store. @throws as the store does */
export async function writeState(
  core: Core,
  cidr: string,
  state: Block['state'],
  signal: AbortSignal,
): Promise<boolean> {
  const stored = core.cache.blocks.get(cidr);
  if (stored === undefined || !isOurs(core, stored.value)) return false;
  return stored.value.state === state || (await putState(core, stored, state, signal));
}

async function putState(
  core: Core,
  { key, value: before, revision }: Stored<Block>,
  state: Block['state'],
  signal: AbortSignal,
): Promise<boolean> {
  const value: Block = { ...before, state };
  const conditions = [{ key, expect: revision }, presenceCondition(core)];
  const writes = [{ op: 'put', key, value: encodeObject(blockKind, value) }] as const;
  const written = await writeAll(core, { conditions, writes }, signal);
  if (written !== undefined) core.cache.note(key, value, written);
  return written !== undefined;
}
