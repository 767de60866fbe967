/** Addresses that an import has brought along: somebody uses them, but no endpoint record of this node says so. */
import { parseAddress } from '@podwire/addresses';
import { type LedgerEntry, ledgerKind } from '@podwire/cluster';
import { describeError } from '@podwire/errors';
import { decodeObject, type Revision } from '@podwire/store';
import { type Core, ipamAround, within } from '../core.js';

/** Takes them as in use, unless a pod of this node is known to have them. */
export function adoptImported(core: Core, entries: readonly LedgerEntry[]): void {
  for (const entry of entries) {
    if (core.book.entry(entry.address) !== undefined) continue;
    core.book.use(entry);
    core.imported.set(entry.address, entry);
    adopt(core, entry);
  }
}

/** Also called when IPAM comes later than they. */
export function adopt(core: Core, { address, owner, since }: LedgerEntry): void {
  const parsed = parseAddress(address);
  const prefix = { family: parsed.family, address: parsed, length: parsed.family === 4 ? 32 : 128 };
  try {
    ipamAround(core, prefix)?.adopt({ address, owner: ownerOf(owner), pool: '', since });
  } catch (error) {
    core.log.warn(
      { address, owner, err: error },
      `an imported address is in use already: ${describeError(error)}`,
    );
  }
}

/** Never the key of an endpoint. */
const ownerOf = (owner: string): string => `imported:${owner}`;

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
    const key = core.keys.ledger(cidr, core.node);
    const item = await within(core.clock, core.timing.call, signal, (either) =>
      core.store.get(key, { signal: either }),
    );
    if (item !== undefined) seen.set(cidr, item.revision);
    const listed = item === undefined ? [] : decodeObject(ledgerKind, key, item.value).entries;
    dropOthers(core, cidr, new Set(listed.map(({ address }) => address)));
  }
  return seen;
}

/** Blocks with such addresses. */
export function importedBlocks({ imported, book }: Core): Set<string> {
  const cidrs = [...imported.keys()].map((address) => book.around(parseAddress(address))?.cidr);
  return new Set(cidrs.filter((cidr) => cidr !== undefined));
}

function dropOthers(core: Core, cidr: string, listed: ReadonlySet<string>): void {
  for (const entry of core.imported.values()) {
    const isHere = core.book.around(parseAddress(entry.address))?.cidr === cidr;
    if (isHere && !listed.has(entry.address)) drop(core, entry);
  }
}

function drop(core: Core, { address, owner }: LedgerEntry): void {
  core.imported.delete(address);
  core.book.free(address);
  for (const ipam of core.ipams.values()) ipam.release(ownerOf(owner));
  core.log.info({ address, owner }, 'an imported address was released');
}
