/** Addresses that an import has brought along: somebody uses them, but no endpoint record of this node says so. */
import { parseAddress } from '@podwire/addresses';
import { type AllocationRecord, type Allocation, allocationRecordKind } from '@podwire/cluster-state';
import { describeError } from '@podwire/errors';
import { decodeObject, encodeObject, type Item, type Revision } from '@podwire/store';
import { readItem, writeAll } from '../calls.js';
import { forEach } from '../each.js';
import { type Core, poolAround, presenceCondition } from '../core.js';
import { cidrOfAddress } from './book.js';

/** Takes them as in use, unless a pod of this node is known to have them. */
export function adoptImported(core: Core, entries: readonly Allocation[]): void {
  for (const entry of entries) {
    if (core.book.entry(entry.address) !== undefined) continue;
    core.book.use(entry);
    core.imported.set(entry.address, entry);
    adoptImportedEntry(core, entry);
  }
}

/** Also called when IPAM comes later than they. */
export function adoptImportedEntry(core: Core, entry: Allocation): void {
  adoptInUse(core, ownerOf(entry.address, entry.owner), entry);
}

/** Tells IPAM; where the pool is not known yet, all of them: it finds its place when there is one. */
export function adoptInUse(core: Core, owner: string, { address, since }: Allocation): void {
  const parsed = parseAddress(address);
  const network = poolAround(core, parsed)?.network;
  for (const [name, ipam] of core.ipams) {
    if (network !== undefined && network !== name) continue;
    try {
      ipam.adopt({ address, owner, pool: '', since });
    } catch (error) {
      core.log.warn({ address, owner, err: error }, `an address is in use already: ${describeError(error)}`);
    }
  }
}

/** Never the key of an endpoint. Each address by itself: what Calico calls a handle may have several, released one by one. */
const ownerOf = (address: string, owner: string): string => `imported:${owner}:${address}`;

/**
 * Addresses of others' blocks that this node has without having asked for them: lent by an import, to pods that may be alive, or
 * to an earlier life of the node, whose pods are dead.
 * @throws as the store does; RECORD_IO
 */
export async function judgeStrangeLoans(core: Core, signal: AbortSignal): Promise<void> {
  const strange = core.book.borrowed().filter((held) => held.isStrange === true);
  await forEach(core, new Set(strange.map((held) => held.lender!)), signal, async (lender) => {
    const held = strange.filter((each) => each.lender === lender);
    const key = core.keys.allocationRecord(lender, core.node);
    const item = await readItem(core, key, signal);
    const ledger = item && decodeObject(allocationRecordKind, key, item.value);
    if (ledger?.imported === true) {
      const cidrs = new Set(held.map(({ cidr }) => cidr));
      adoptImported(
        core,
        ledger.entries.filter(({ address }) => cidrs.has(cidrOfAddress(address))),
      );
      core.changed();
      await claimBooks(core, item!, ledger, signal);
    }
    for (const each of held) each.isStrange = false;
  });
}

/** From now on they are the node's own: after its next boot nobody of them is alive. */
async function claimBooks(
  core: Core,
  { key, revision }: Item,
  ledger: AllocationRecord,
  signal: AbortSignal,
): Promise<void> {
  const { imported: _, ...own } = ledger;
  const conditions = [{ key, expect: revision }, presenceCondition(core)];
  const writes = [{ op: 'put', key, value: encodeObject(allocationRecordKind, own) }] as const;
  await writeAll(core, { conditions, writes }, signal);
}

/**
 * Those that somebody has taken out of the store's books (`podwire ipam release`) are free. Looks at these blocks.
 * @returns the revisions of the books that were looked at: what is written then must expect them. @throws as the store does
 */
export async function checkImported(
  core: Core,
  blocks: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Revision>> {
  const seen = new Map<string, Revision>();
  for (const cidr of importedBlocks(core)) {
    if (!blocks.has(cidr)) continue;
    const key = core.keys.allocationRecord(cidr, core.node);
    const item = await readItem(core, key, signal);
    if (item !== undefined) seen.set(cidr, item.revision);
    const listed = item === undefined ? [] : decodeObject(allocationRecordKind, key, item.value).entries;
    dropOthers(core, cidr, new Set(listed.map(({ address }) => address)));
  }
  return seen;
}

/** Blocks with such addresses. */
export function importedBlocks(core: Core): Set<string> {
  const cidrs = [...core.imported.keys()].map((address) => booksOf(core, address));
  return new Set(cidrs.filter((cidr) => cidr !== undefined));
}

/** The block in whose books an address is: of a borrowed one, its lender's. */
function booksOf({ book }: Core, address: string): string | undefined {
  const held = book.around(parseAddress(address));
  return held?.lender ?? held?.cidr;
}

function dropOthers(core: Core, cidr: string, listed: ReadonlySet<string>): void {
  for (const entry of core.imported.values()) {
    const isHere = booksOf(core, entry.address) === cidr;
    if (isHere && !listed.has(entry.address)) drop(core, entry);
  }
}

function drop(core: Core, { address, owner }: Allocation): void {
  core.imported.delete(address);
  core.book.free(address);
  for (const ipam of core.ipams.values()) ipam.release(ownerOf(address, owner));
  core.log.info({ address, owner }, 'an imported address was released');
}
