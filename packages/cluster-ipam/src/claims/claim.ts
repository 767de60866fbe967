/** Making a block this node's: one transaction, whose creation of the block is the arbiter. */
import { type Address, containsPrefix, formatPrefix, parsePrefix, prefixOf } from '@podwire/addresses';
import { type Block, blockKind, type Pool, type Stored } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { orAborted } from '@podwire/platform';
import { type Condition, encodeObject, isUncertain, type Revision } from '@podwire/store';
import { readItem, transact } from '../calls.js';
import { type Core, isOurs, learn, learnObject, notRegistered, presenceCondition } from '../core.js';
import { judgeStrangeLoans } from '../holdings/imported.js';
import { readPresence } from '../trust/confirm.js';
import { startOf } from './free-blocks.js';
import { hasRoom } from './pools.js';

export type ClaimOutcome =
  | 'claimed'
  /** No block of the pool is nobody's. */
  | 'none'
  /** The block around the address has an owner. */
  | 'taken';

/** Each conflict teaches something; who needs more is in a crowd, and had better say so. */
const attempts = 32;

/**
 * A block of the pool, or the one around an address of it.
 * @throws PodwireError STORE_UNAVAILABLE and others of the store; NODE_FENCED when the store does not know the node;
 * STORE_CONFLICT when others were faster every time
 */
export async function claimBlock(
  core: Core,
  poolName: string,
  around: Address | undefined,
  signal: AbortSignal,
): Promise<ClaimOutcome> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    await requirePresence(core, signal);
    const pool = core.cache.pools.get(poolName);
    if (pool === undefined || pool.value.disabled || pool.value.deleting) return 'none';
    const cidr = around === undefined ? chooseBlock(core, poolName) : blockAround(core, pool.value, around);
    if (cidr === undefined) return 'none';
    const before = core.cache.blocks.get(cidr);
    if (before?.value.node !== undefined) return isOurs(core, before.value) ? 'claimed' : 'taken';
    // One of another size: the creation of this one would not meet it.
    if (before === undefined && core.index.isTouched(poolName, parsePrefix(cidr))) return 'taken';
    const coming = claimsIn(core, pool.value);
    const isTooMuch = !hasRoom(core, pool.value, coming.length) && !isInUse(core, cidr);
    const other = core.claiming.get(cidr) ?? (isTooMuch ? coming[0] : undefined);
    if (other !== undefined) {
      // Whatever comes of it is seen in the next attempt.
      await orAborted(other, signal).catch(() => signal.throwIfAborted());
      continue;
    }
    if (isTooMuch) return 'none';
    // Our own loans of it end with the claim: what somebody has of them must be known by then.
    if (before !== undefined) await judgeStrangeLoans(core, signal);
    if (await tryToClaim(core, pool, cidr, before, signal)) return 'claimed';
  }
  throw new PodwireError(
    'STORE_CONFLICT',
    `pool ${poolName}: others claimed the same blocks ${attempts} times`,
  );
}

async function requirePresence(core: Core, signal: AbortSignal): Promise<void> {
  if (core.presence !== undefined || (await readPresence(core, signal))) return;
  throw notRegistered(core.node);
}

const chooseBlock = (core: Core, pool: string): string | undefined =>
  core.index.choose(pool, startOf(core.node), core.claiming, core.taken?.());

/** Claims of other blocks of the pool that are on their way. */
function claimsIn({ claiming }: Core, { cidr }: Pool): Promise<boolean>[] {
  const pool = parsePrefix(cidr);
  return [...claiming].flatMap(([block, claim]) => (containsPrefix(pool, parsePrefix(block)) ? claim : []));
}

/** Pods of this node are in it: nobody else must get it, however many blocks the node has. */
const isInUse = ({ book }: Core, cidr: string): boolean => book.usedWithin(parsePrefix(cidr)).length > 0;

/** The block as it is, when there is one: it may be of another size. */
const blockAround = ({ index }: Core, { blockSize }: Pool, address: Address): string =>
  index.around(address) ?? formatPrefix(prefixOf(address, blockSize));

async function tryToClaim(
  core: Core,
  pool: Stored<Pool>,
  cidr: string,
  before: Stored<Block> | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const block: Block = {
    cidr,
    node: core.node,
    instance: core.instance,
    state: 'pending',
    claimedAt: core.clock.now(),
    loans: before?.value.loans.filter((loan) => loan.node !== core.node) ?? [],
  };
  const key = core.keys.block(cidr);
  const conditions: Condition[] = [
    { key, expect: before?.revision ?? 'absent' },
    { key: pool.key, expect: pool.revision },
    presenceCondition(core),
  ];
  const claim = writeClaim(core, block, conditions, signal);
  core.claiming.set(cidr, claim);
  try {
    return await claim;
  } finally {
    core.claiming.delete(cidr);
  }
}

async function writeClaim(
  core: Core,
  block: Block,
  conditions: readonly Condition[],
  signal: AbortSignal,
): Promise<boolean> {
  core.faults.reach('claim:chosen');
  const revision = await write(core, block, conditions, signal);
  core.faults.reach('claim:written');
  if (revision === undefined) return false;
  core.cache.note(core.keys.block(block.cidr), block, revision);
  return true;
}

/** @returns undefined when a condition did not hold, or nothing was written */
async function write(
  core: Core,
  block: Block,
  conditions: readonly Condition[],
  signal: AbortSignal,
): Promise<Revision | undefined> {
  const key = core.keys.block(block.cidr);
  const writes = [{ op: 'put', key, value: encodeObject(blockKind, block) }] as const;
  try {
    const outcome = await transact(core, { conditions, writes }, signal);
    if (outcome.committed) return outcome.revision;
    learn(core, conditions, outcome.found);
    return undefined;
  } catch (error) {
    if (!isUncertain(error)) throw error;
    const revision = await readBack(core, block, signal);
    // A store that is full is never certain, and would refuse all other blocks too.
    if (revision === undefined && error instanceof PodwireError && error.code === 'STORE_FULL') throw error;
    return revision;
  }
}

/**
 * Nobody knows whether the claim was written: the store is asked. When it does not say either, the block may be ours; then
 * the cache tells some time, and the block is taken in.
 */
async function readBack(core: Core, block: Block, signal: AbortSignal): Promise<Revision | undefined> {
  const key = core.keys.block(block.cidr);
  const asked = core.cache.blocks.get(block.cidr)?.revision;
  const item = await readItem(core, key, signal);
  learnObject(core, key, item, asked);
  if (item === undefined) return undefined;
  return isOurs(core, core.cache.blocks.get(block.cidr)?.value) ? item.revision : undefined;
}
