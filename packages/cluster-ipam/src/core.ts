/** What the rooms of node addressing share: the options, what the node has, and ways to say that something has changed. */
import { type Address, containsAddress, parsePrefix, type Prefix } from '@podwire/addresses';
import { type Block, blockKind, type Allocation, type Pool, poolKind } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import type { Ipam } from '@podwire/ipam';
import { type Condition, decodeObject, type Item, type ObjectKind, type Revision } from '@podwire/store';
import type { BlockIndex } from './claims/block-index.js';
import type { NodeAddressingOptions, Timing } from './contract.js';
import type { Book } from './holdings/book.js';
import type { Trust } from './trust/trust.js';
import type { Turns } from './waiting.js';
import type { WorkloadIndex } from './workloads/match.js';

export interface Core extends Omit<NodeAddressingOptions, 'timing'> {
  readonly timing: Timing;
  readonly book: Book;
  readonly trust: Trust;
  readonly index: BlockIndex;
  /** By network. */
  readonly ipams: Map<string, Ipam>;
  /** By what they are about. */
  readonly problems: Map<string, string>;
  /** The revision of our presence, when it was seen. */
  presence: Revision | undefined;
  /** Pools by name; those of an earlier life while the store is away. */
  pools(): ReadonlyMap<string, Pool>;
  /** Requests for addresses of our blocks, by key. */
  readonly requests: Set<string>;
  /** Keys of our own requests for which an ADD waits. */
  readonly asking: Set<string>;
  /** Owners that have refused or not answered lately: blocks, with the elapsed time until when they are not asked again. */
  readonly unwilling: Map<string, number>;
  readonly workloads: WorkloadIndex;
  /** One for each topic: whoever comes second finds what the first has brought. */
  turns(topic: string): Turns;
  /** Addresses whose loan is on its way to the store: to whom, and of which block. */
  readonly lending: Map<string, { readonly node: string; readonly block: string }>;
  /** Those of them of which nobody knows whether they were written. */
  readonly doubtful: Set<string>;
  /** Blocks with a report that may still be on its way to the store, and the elapsed time when it was sent. */
  readonly uncertainReports: Map<string, number>;
  /** Addresses in use that an import has brought along, by address. */
  readonly imported: Map<string, Allocation>;
  /** Blocks that are being claimed now, and how that ends. */
  readonly claiming: Map<string, Promise<boolean>>;
  /** Aborts when the node is stopped. */
  readonly stopped: AbortSignal;
  /** Holdings or pools have changed: writes the file, tells the listeners, lets the background look. @throws RECORD_IO */
  changed(): void;
  /** The store's books of a block may say what is not so (any more). */
  reportBooks(cidr: string): void;
  /** There is something to do in the background. */
  wake(): void;
}

/**
 * Our presence, as a condition of everything that makes us an owner: who is thought to be gone must not become one. It may
 * have gone between two steps of one piece of work.
 * @throws PodwireError NODE_FENCED when the store does not know it
 */
export function presenceCondition({ keys, node, presence }: Core): Condition {
  if (presence === undefined) throw notRegistered(node);
  return { key: keys.nodeLease(node), expect: presence };
}

export const notRegistered = (node: string): PodwireError =>
  new PodwireError('NODE_FENCED', `node ${node} is not registered in the store (any more)`);

/** Takes in what a refused transaction has found, so that the next decision is made with it. */
export function learn(
  core: Core,
  conditions: readonly Condition[],
  found: readonly (Item | undefined)[],
): void {
  for (const [at, { key, expect }] of conditions.entries()) {
    const item = found[at];
    const isAsExpected = expect === 'absent' ? item === undefined : item?.revision === expect;
    if (isAsExpected) continue;
    if (key === core.keys.nodeLease(core.node)) core.presence = undefined;
    else learnObject(core, key, item, expect === 'absent' ? undefined : expect);
  }
}

/** @param asked the revision that was known when the store was asked: what the watch has told since may be newer than the answer */
export function learnObject(
  { cache, keys }: Core,
  key: string,
  item: Item | undefined,
  asked: Revision | undefined,
): void {
  if (item === undefined) {
    if (asked !== undefined) cache.noteGone(key, asked);
    return;
  }
  const isBlock = key.startsWith(keys.block(''));
  const value = isBlock ? tryDecode(blockKind, item) : tryDecode(poolKind, item);
  if (value !== undefined) cache.note(key, value, item.revision);
}

/** What cannot be read is the cache's to report. */
function tryDecode<T>(kind: ObjectKind<T>, item: Item): T | undefined {
  try {
    return decodeObject(kind, item.key, item.value);
  } catch {
    return undefined;
  }
}

/** The block of a claim that is ours now. */
export const isOurs = ({ node, instance }: Core, block: Block | undefined): boolean =>
  block !== undefined && block.node === node && block.instance === instance;

export function poolAround(core: Core, address: Address): Pool | undefined {
  return [...core.pools().values()].find(({ cidr }) => containsAddress(parsePrefix(cidr), address));
}

export function ipamAround(core: Core, prefix: Prefix): Ipam | undefined {
  const pool = poolAround(core, prefix.address);
  return pool === undefined ? undefined : core.ipams.get(pool.network);
}
