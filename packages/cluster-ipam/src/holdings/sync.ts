/** What the cache of the cluster says about this node's blocks, taken into the book. In memory alone. */
import { containsAddress, parseAddress } from '@podwire/addresses';
import type { Block } from '@podwire/cluster-state';
import { describeError } from '@podwire/errors';
import type { Ipam } from '@podwire/ipam';
import { type Core, ipamAround, isOurs } from '../core.js';
import { cidrOfAddress, type Held } from './book.js';
import { adoptImportedEntry, adoptInUse } from './imported.js';

/** @returns whether the holdings are others now */
export function syncAll(core: Core): boolean {
  const { book, cache, node } = core;
  const cidrs = new Set([...book.blocks().map(({ cidr }) => cidr), ...cache.blocksOf(node)]);
  for (const { lender } of book.borrowed()) cidrs.add(lender!);
  // A loan names no block; there are few blocks that lend to one node.
  const lent = new Set(cache.borrowedBy(node));
  if (lent.size > 0) {
    for (const { value } of cache.blocks.values()) {
      if (value.loans.some((loan) => loan.node === node)) cidrs.add(value.cidr);
    }
  }
  return syncBlocks(core, cidrs, true);
}

/**
 * @param isFirst nothing of this can have been asked for by this life of the node
 * @returns whether the holdings are others now
 */
export function syncBlocks(core: Core, cidrs: Iterable<string>, isFirst = false): boolean {
  let changed = false;
  for (const cidr of cidrs) {
    const block = core.cache.blocks.get(cidr)?.value;
    // First what was borrowed of it: where the block is ours now, the leases come home with it.
    if (syncBorrowed(core, cidr, block, isFirst)) changed = true;
    if (syncOwn(core, cidr, block)) changed = true;
  }
  return changed;
}

function syncOwn(core: Core, cidr: string, block: Block | undefined): boolean {
  const held = core.book.get(cidr);
  if (isOurs(core, block)) {
    const changed = held === undefined || held.state !== nextState(held, block!);
    const now = held ?? core.book.add(cidr, block!.state, core.clock.elapsed());
    now.state = nextState(now, block!);
    if (held === undefined && now.used > 0) bringHome(core, now);
    syncLoans(core, block!);
    return changed;
  }
  if (held === undefined || held.lender !== undefined) return false;
  // Also to another agent of our name; to whom the name belongs may take it over.
  loseBlock(core, held, block);
  return true;
}

/** Leases that were foreign while the block was not ours. */
function bringHome(core: Core, { prefix }: Held): void {
  for (const entry of core.book.usedWithin(prefix)) {
    if (core.imported.has(entry.address)) adoptImportedEntry(core, entry);
    else adoptInUse(core, entry.owner, entry);
  }
}

/** What is going stays so until its object says otherwise, or is gone. */
function nextState(held: Held, block: Block): Held['state'] {
  return held.state === 'pendingDeletion' && block.state === 'confirmed' ? held.state : block.state;
}

/** Nothing is handed out of it from this moment on: it may be another's. */
function loseBlock(core: Core, held: Held, block: Block | undefined): void {
  core.book.delete(held.cidr);
  for (const ipam of core.ipams.values()) ipam.dropBlock(held.cidr);
  if (held.state === 'pendingDeletion' && held.used === 0) return;
  const fields = { block: held.cidr, owner: block?.node, used: held.used };
  core.log.warn(fields, 'a block is not this node’s any more');
}

/** What is lent of a block, or about to be: neither this life of the node nor one after it may hand that out. */
export function lentOf({ cache, lending }: Core, { cidr, prefix }: Held): Block['loans'] {
  const written = cache.blocks.get(cidr)?.value.loans ?? [];
  const onTheWay = [...lending]
    .filter(([address]) => containsAddress(prefix, parseAddress(address)))
    .map(([address, { node }]) => ({ address, node }));
  return [...written, ...onTheWay];
}

/** Before IPAM has a block (again). */
export function noteLoans(core: Core, network: string, held: Held): void {
  const ipam = core.ipams.get(network);
  if (ipam === undefined) return;
  for (const loan of lentOf(core, held)) noteLoan(core, ipam, loan);
}

/** What we lend: the block says what, IPAM must not hand it out. */
export function syncLoans(core: Core, block: Block): void {
  const held = core.book.get(block.cidr);
  const ipam = held && ipamAround(core, held.prefix);
  if (ipam === undefined) return;
  const lent = new Set(block.loans.map(({ address }) => address));
  for (const loan of block.loans) noteLoan(core, ipam, loan);
  forgetProblems(core, held!, lent);
  for (const { address } of ipam.borrowed()) {
    const isHere = core.book.around(parseAddress(address))?.cidr === block.cidr;
    if (isHere && !lent.has(address) && !core.lending.has(address)) ipam.unmarkBorrowed(address);
  }
}

/** Of loans that are no more. */
function forgetProblems({ problems }: Core, { prefix }: Held, lent: ReadonlySet<string>): void {
  for (const topic of problems.keys()) {
    if (!topic.startsWith('loan ')) continue;
    const address = topic.slice('loan '.length);
    if (!lent.has(address) && containsAddress(prefix, parseAddress(address))) problems.delete(topic);
  }
}

function noteLoan({ problems }: Core, ipam: Ipam, { address, node }: Block['loans'][number]): void {
  try {
    ipam.markBorrowed({ address, borrower: node });
    problems.delete(`loan ${address}`);
  } catch (error) {
    const message = `ADDRESS_IN_USE: ${address} is lent to node ${node}: ${describeError(error)}`;
    problems.set(`loan ${address}`, message);
  }
}

function syncBorrowed(core: Core, lender: string, block: Block | undefined, isFirst: boolean): boolean {
  let changed = false;
  if (core.book.borrowedCount === 0 && !block?.loans.some(({ node }) => node === core.node)) return false;
  const lent = new Set(
    (block?.loans ?? [])
      .filter(({ node }) => node === core.node)
      .map(({ address }) => cidrOfAddress(address)),
  );
  for (const held of core.book.borrowed()) {
    if (held.lender !== lender || lent.has(held.cidr)) continue;
    loseBlock(core, held, block);
    changed = true;
  }
  for (const cidr of lent) {
    if (core.book.get(cidr) !== undefined) continue;
    const held = core.book.add(cidr, 'confirmed', core.clock.elapsed(), lender);
    // A lender without an instance has been imported, and has lent nothing itself.
    held.isStrange = isFirst || block?.instance === undefined;
    if (held.isStrange) core.wake();
    changed = true;
  }
  return changed;
}
