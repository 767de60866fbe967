/** The borrower's side of loans: a node that has nothing asks one that may have something. */
import {
  type Block,
  blockKind,
  type BorrowRequest,
  borrowRequestKind,
  type Pool,
} from '@podwire/cluster-state';
import { waitUntil } from '@podwire/platform';
import { encodeObject, type Write } from '@podwire/store';
import { transact, writeAll } from '../calls.js';
import { markGoing } from '../claims/give-back.js';
import type { Core } from '../core.js';
import { forEach } from '../each.js';
import { type Held, cidrOfAddress } from '../holdings/book.js';
import { within } from '../waiting.js';

export type LoanAnswer =
  | { readonly kind: 'lent' }
  /** In the owner's words. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'silent' };

/** Owners asked for any address before the node gives up. */
const owners = 6;
/** Milliseconds in which an owner that has refused is not asked for any address again. */
const unwillingFor = 10_000;

/**
 * Asks the owner of the block for this address of it, or any.
 * @throws as the store does
 */
export async function borrow(
  core: Core,
  block: string,
  address: string | undefined,
  signal: AbortSignal,
): Promise<LoanAnswer> {
  const { keys, node, cache, clock, timing } = core;
  const before = new Set(borrowedOf(core, block));
  const has = (): boolean =>
    address === undefined
      ? borrowedOf(core, block).some((cidr) => !before.has(cidr))
      : core.book.get(cidrOfAddress(address)) !== undefined;
  const id = Buffer.from(core.random(6)).toString('hex');
  const key = keys.borrowRequest(block, node, id);
  const request: BorrowRequest = {
    block,
    node,
    askedAt: clock.now(),
    ...(address === undefined ? {} : { address }),
  };
  let why: string | undefined;
  const isRefused = (): boolean => {
    why ??= cache.borrowRequests.get(key)?.value.refused;
    return why !== undefined;
  };
  core.asking.add(key);
  try {
    const writes = [{ op: 'put', key, value: encodeObject(borrowRequestKind, request) }] as const;
    await transact(core, { conditions: [{ key, expect: 'absent' }], writes }, signal);
    core.faults.reach('borrow:asked');
    await within(clock, timing.loanAnswer, signal, (either) =>
      waitUntil(
        () => has() || isRefused(),
        (listener) => cache.onChange(listener),
        either,
      ),
    ).catch((error: unknown) => {
      if (signal.aborted) throw error;
    });
  } finally {
    // From here on nobody can grant it any more: who grants expects it to be there.
    core.asking.delete(key);
    await tryToWithdraw(core, key);
  }
  if (has()) return { kind: 'lent' };
  return why === undefined ? { kind: 'silent' } : { kind: 'refused', why };
}

const borrowedOf = ({ book }: Core, block: string): string[] =>
  book.borrowed().flatMap((held) => (held.lender === block ? [held.cidr] : []));

/** Also when the ADD has gone. What stays in the store, or arrives there later, goes with {@link withdrawRequests}. */
async function tryToWithdraw(core: Core, key: string): Promise<void> {
  try {
    await withdraw(core, key, core.stopped);
  } catch (error) {
    core.log.debug({ key, err: error }, 'a request for a loan could not be taken back; it is tried again');
    core.wake();
  }
}

async function withdraw(core: Core, key: string, signal: AbortSignal): Promise<void> {
  const outcome = await transact(core, { conditions: [], writes: [{ op: 'delete', key }] }, signal);
  if (outcome.committed) core.cache.noteGone(key, outcome.revision);
}

/** Our requests for which no ADD waits (any more): the store was away when they ended, or an earlier life has asked. */
export function isLeftBehind({ cache, node, asking }: Core, key: string): boolean {
  return cache.borrowRequests.get(key)?.value.node === node && !asking.has(key);
}

/** @throws as the store does */
export async function withdrawRequests(core: Core, signal: AbortSignal): Promise<void> {
  const left = [...core.cache.borrowRequests.keys()].filter((key) => isLeftBehind(core, key));
  await forEach(core, left, signal, (key) => withdraw(core, key, signal));
}

/** Any address of other nodes' blocks in these pools. @throws as the store does */
export async function borrowAny(
  core: Core,
  pools: readonly Pool[],
  signal: AbortSignal,
): Promise<LoanAnswer> {
  let answer: LoanAnswer = { kind: 'silent' };
  for (const cidr of lenders(core, pools)) {
    answer = await borrow(core, cidr, undefined, signal);
    if (answer.kind === 'lent') return answer;
    core.unwilling.set(cidr, core.clock.elapsed() + unwillingFor);
  }
  return answer;
}

/** Some blocks of others, by chance; not those whose owners have just refused. */
function lenders(core: Core, pools: readonly Pool[]): string[] {
  const now = core.clock.elapsed();
  for (const [cidr, until] of core.unwilling) if (until <= now) core.unwilling.delete(cidr);
  const others = pools.flatMap(({ name }) =>
    [...core.index.blocks(name)].filter((cidr) => !core.unwilling.has(cidr) && isOthers(core, cidr)),
  );
  const [high = 0, low = 0] = core.random(2);
  const start = others.length === 0 ? 0 : (high * 256 + low) % others.length;
  return [...others.slice(start), ...others.slice(0, start)].slice(0, owners);
}

function isOthers({ cache, node }: Core, cidr: string): boolean {
  const block = cache.blocks.get(cidr)?.value;
  return block?.node !== undefined && block.node !== node && block.state !== 'pendingDeletion';
}

/** Borrowed addresses that nobody uses any more go back to their owners. @throws as the store does; RECORD_IO */
export async function returnBorrowed(core: Core, signal: AbortSignal): Promise<void> {
  const now = core.clock.elapsed();
  await forEach(core, core.book.borrowed(), signal, async (held) => {
    // One that is strange may be in use by somebody of whom only the store's books know.
    const isIdle = !held.isOpen && held.isStrange !== true && held.used === 0;
    const isDue = isIdle && now - held.since >= core.timing.tidyEvery;
    if (isDue || held.state === 'pendingDeletion') await returnOne(core, held, signal);
  });
}

async function returnOne(core: Core, held: Held, signal: AbortSignal): Promise<void> {
  const stored = core.cache.blocks.get(held.lender!);
  if (stored === undefined) return;
  if (held.state !== 'pendingDeletion') markGoing(core, held);
  const { key, value, revision } = stored;
  const loans = value.loans.filter(
    ({ address, node }) => node !== core.node || cidrOfAddress(address) !== held.cidr,
  );
  const rest: Block = { ...value, loans };
  const write: Write =
    value.node === undefined && loans.length === 0
      ? { op: 'delete', key }
      : { op: 'put', key, value: encodeObject(blockKind, rest) };
  const written = await writeAll(core, { conditions: [{ key, expect: revision }], writes: [write] }, signal);
  core.faults.reach('borrow:returned');
  if (written === undefined) return;
  if (write.op === 'delete') core.cache.noteGone(key, written);
  else core.cache.note(key, rest, written);
}
