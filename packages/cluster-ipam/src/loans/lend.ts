/** The owner's side of loans: only it knows what of its blocks is free. */
import {
  type Block,
  blockKind,
  type BorrowRequest,
  borrowRequestKind,
  type Stored,
} from '@podwire/cluster-state';
import { describeError, PodwireError } from '@podwire/errors';
import { encodeObject, isUncertain, type Transaction } from '@podwire/store';
import { readItem, writeAll } from '../calls.js';
import { forEach } from '../each.js';
import { type Core, ipamAround, isOurs, learnObject, presenceCondition } from '../core.js';
import { syncLoans } from '../holdings/sync.js';

/** Milliseconds after which nobody waits for an answer any more, whatever the clocks of two machines say. */
const staleAfter = 10 * 60_000;
const longestReason = 256;

/** Answers everything that was asked. @throws as the store does */
export async function answerRequests(core: Core, signal: AbortSignal): Promise<void> {
  await forEach(core, [...core.requests], signal, async (key) => {
    const request = core.cache.borrowRequests.get(key);
    const block = request && core.cache.blocks.get(request.value.block);
    const isOpen = request !== undefined && request.value.refused === undefined && isOurs(core, block?.value);
    if (!isOpen) core.requests.delete(key);
    else await answer(core, request, block!, signal);
  });
}

async function answer(
  core: Core,
  request: Stored<BorrowRequest>,
  block: Stored<Block>,
  signal: AbortSignal,
): Promise<void> {
  const { key, value, revision } = request;
  if (core.clock.now() - value.askedAt > staleAfter) {
    core.requests.delete(key);
    await writeAll(
      core,
      { conditions: [{ key, expect: revision }], writes: [{ op: 'delete', key }] },
      signal,
    );
    return;
  }
  const address = choose(core, value);
  if (address instanceof PodwireError) await refuse(core, request, address, signal);
  else await grant(core, request, block, address, signal);
}

/** Takes the address out of IPAM, so that it is nobody's until the store has the loan. */
function choose(core: Core, { block, node, address }: BorrowRequest): string | PodwireError {
  try {
    core.trust.require();
    const held = core.book.get(block);
    const ipam = held && ipamAround(core, held.prefix);
    if (ipam === undefined || held?.state === 'pendingDeletion') {
      throw new PodwireError('POOL_EXHAUSTED', `block ${block} is being given back`);
    }
    return ipam.reserveBorrowed(block, node, address).address;
  } catch (error) {
    if (error instanceof PodwireError) return error;
    throw error;
  }
}

async function refuse(
  core: Core,
  { key, value, revision }: Stored<BorrowRequest>,
  why: PodwireError,
  signal: AbortSignal,
): Promise<void> {
  const refused = describeError(why).slice(0, longestReason);
  const text = encodeObject(borrowRequestKind, { ...value, refused });
  const transaction: Transaction = {
    conditions: [{ key, expect: revision }],
    writes: [{ op: 'put', key, value: text }],
  };
  await writeAll(core, transaction, signal);
  core.requests.delete(key);
}

async function grant(
  core: Core,
  request: Stored<BorrowRequest>,
  { key, value, revision }: Stored<Block>,
  address: string,
  signal: AbortSignal,
): Promise<void> {
  const lent: Block = { ...value, loans: [...value.loans, { address, node: request.value.node }] };
  core.lending.set(address, { node: request.value.node, block: value.cidr });
  try {
    // The file first: the loan may arrive in a life after this one, which must not hand the address out.
    core.changed();
    const transaction: Transaction = {
      // Who does not wait any more has taken the request away.
      conditions: [
        { key, expect: revision },
        { key: request.key, expect: request.revision },
        presenceCondition(core),
      ],
      writes: [{ op: 'put', key, value: encodeObject(blockKind, lent) }],
    };
    core.faults.reach('lend:chosen');
    const written = await writeAll(core, transaction, signal);
    core.faults.reach('lend:written');
    core.requests.delete(request.key);
    if (written === undefined) {
      core.lending.delete(address);
      await again(core, request, address, signal);
      return;
    }
    core.cache.note(key, lent, written);
    settle(core, value.cidr, [address]);
  } catch (error) {
    const isOnTheWay = (isUncertain(error) || signal.aborted) && core.lending.has(address);
    if (isOnTheWay) core.doubtful.add(address);
    else giveUp(core, value.cidr, address);
    throw error;
  }
}

/** The block or the request has changed meanwhile. */
async function again(
  core: Core,
  { key }: Stored<BorrowRequest>,
  address: string,
  signal: AbortSignal,
): Promise<void> {
  for (const ipam of core.ipams.values()) ipam.unmarkBorrowed(address);
  const item = await readItem(core, key, signal);
  if (item === undefined) return;
  core.requests.add(key);
}

function giveUp(core: Core, cidr: string, address: string): void {
  core.lending.delete(address);
  core.doubtful.delete(address);
  const held = core.book.get(cidr);
  if (held !== undefined) ipamAround(core, held.prefix)?.unmarkBorrowed(address);
}

/** The store has them. What has become of them since, the cache says: the borrower may have returned one already. */
function settle(core: Core, cidr: string, addresses: readonly string[]): void {
  for (const address of addresses) {
    core.lending.delete(address);
    core.doubtful.delete(address);
  }
  const block = core.cache.blocks.get(cidr)?.value;
  if (isOurs(core, block)) syncLoans(core, block!);
}

/**
 * Loans of which the store alone knows whether they were written. What is not in the block now may still be on its way: the block
 * is written once more as it is, and whatever was expected of it before does not hold any more.
 * @throws as the store does
 */
export async function settleDoubts(core: Core, signal: AbortSignal): Promise<void> {
  const blocks = new Set([...core.doubtful].map((address) => core.lending.get(address)!.block));
  await forEach(core, blocks, signal, (cidr) => settleBlock(core, cidr, signal));
}

async function settleBlock(core: Core, cidr: string, signal: AbortSignal): Promise<void> {
  const key = core.keys.block(cidr);
  const asked = core.cache.blocks.get(cidr)?.revision;
  learnObject(core, key, await readItem(core, key, signal), asked);
  const doubts = [...core.doubtful].filter((address) => core.lending.get(address)!.block === cidr);
  const stored = core.cache.blocks.get(cidr);
  if (stored === undefined || !isOurs(core, stored.value)) {
    for (const address of doubts) giveUp(core, cidr, address);
    return;
  }
  const lent = new Set(stored.value.loans.map(({ address }) => address));
  settle(
    core,
    cidr,
    doubts.filter((address) => lent.has(address)),
  );
  const missing = doubts.filter((address) => !lent.has(address));
  if (missing.length > 0) await supersede(core, stored, missing, signal);
}

async function supersede(
  core: Core,
  { key, value, revision }: Stored<Block>,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const writes = [{ op: 'put', key, value: encodeObject(blockKind, value) }] as const;
  const written = await writeAll(core, { conditions: [{ key, expect: revision }], writes }, signal);
  if (written === undefined) return;
  core.cache.note(key, value, written);
  for (const address of addresses) giveUp(core, value.cidr, address);
}
