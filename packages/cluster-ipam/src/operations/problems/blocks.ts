/** Problems of blocks and their borrowed addresses. */
import { compact } from '@podwire/platform';
import { containsPrefix, overlaps } from '@podwire/addresses';
import { type Block, blockKind, type Stored } from '@podwire/cluster-state';
import { type Condition, encodeObject, type Write } from '@podwire/store';
import { withoutOwner } from '../../events.js';
import { poolAround } from '../snapshot.js';
import { compareCidrs, prefixFrom } from '../text.js';
import {
  type Evidence,
  type Problem,
  leave,
  repair,
  type Fix,
  nodeStateOf,
  stillUnknown,
  whyNot,
  isUnheard,
  whyUnheard,
} from './problem.js';

export function* findInBlocks(evidence: Evidence): Generator<Problem[]> {
  const blocks = [...evidence.snapshot.blocks.values()];
  for (const block of blocks) yield findInBlock(evidence, block);
  yield findOverlapping(blocks.map(({ value }) => value));
}

const findInBlock = (evidence: Evidence, block: Stored<Block>): Problem[] => [
  ...findOutside(evidence, block.value),
  ...findOwnerless(evidence, block),
  ...findPending(evidence, block.value),
  ...findBorrowed(evidence, block),
];

const subjectOf = ({ cidr }: Block): string => `block ${cidr}`;
const nodeOf = ({ node }: Block) => compact({ node });

/** An import names owners that have never registered: their pods may run. */
function isImported(block: Block): boolean {
  return block.node !== undefined && block.instance === undefined;
}

function findOutside({ snapshot }: Evidence, block: Block): Problem[] {
  const prefix = prefixFrom(block.cidr);
  const pool = poolAround(snapshot.pools, prefix)?.value;
  if (pool?.blockSize === prefix.length) return [];
  const message =
    pool === undefined
      ? `block ${block.cidr} lies in no pool`
      : `block ${block.cidr} is a /${prefix.length}, and blocks of pool ${pool.name} are /${pool.blockSize}`;
  const why =
    block.node === undefined
      ? 'it goes with its last borrowed address'
      : `node ${block.node} gives it back when its last pod is gone`;
  return [
    {
      id: `outside:block:${block.cidr}`,
      kind: 'outside',
      subject: subjectOf(block),
      message,
      ...nodeOf(block),
      addresses: [],
      fix: leave(why),
    },
  ];
}

/** Blocks of nodes that are gone, and blocks without an owner. */
function findOwnerless(evidence: Evidence, stored: Stored<Block>): Problem[] {
  const { value: block } = stored;
  if (block.node === undefined) {
    if (block.loans.length > 0) return [];
    const message = `block ${block.cidr} has no owner, and none of its addresses is borrowed`;
    return [
      {
        id: `orphaned:block:${block.cidr}`,
        kind: 'orphaned',
        subject: subjectOf(block),
        message,
        addresses: [],
        fix: tidyBlock(evidence, stored),
      },
    ];
  }
  if (nodeStateOf(evidence.snapshot, block.node) !== 'unknown') return [];
  return [
    {
      id: `leaked:block:${block.cidr}:${block.node}:${block.instance ?? ''}:${block.claimedAt}`,
      kind: 'leaked',
      subject: subjectOf(block),
      message: `block ${block.cidr} belongs to node ${block.node}, which is not registered`,
      node: block.node,
      addresses: [],
      fix: planLeakedFix(evidence, stored),
    },
  ];
}

/** For a block whose owner is unknown, and for the owner's allocation record. */
export function planLeakedFix(evidence: Evidence, stored: Stored<Block>): Fix {
  const { node = '', claimedAt } = stored.value;
  if (isImported(stored.value)) return whyUnheard(node);
  if (evidence.now - claimedAt < evidence.grace)
    return leave('it was claimed a moment ago: look again later');
  return tidyBlock(evidence, stored);
}

function tidyBlock(evidence: Evidence, stored: Stored<Block>): Fix {
  const known = evidence.blockFixes.get(stored.key);
  if (known !== undefined) return known;
  const fix = planTidyBlock(evidence, stored);
  evidence.blockFixes.set(stored.key, fix);
  return fix;
}

/**
 * Removes an unknown owner from the block, with its record, and unknown borrowers; deletes the block when no node is
 * left in it.
 */
function planTidyBlock(evidence: Evidence, { key, value: block, revision }: Stored<Block>): Fix {
  const isGone = (node: string): boolean =>
    nodeStateOf(evidence.snapshot, node) === 'unknown' && !isUnheard(evidence, block.cidr, node);
  const isOld = evidence.now - block.claimedAt >= evidence.grace;
  const ownerGoes = block.node !== undefined && isGone(block.node) && !isImported(block) && isOld;
  const loans = block.loans.filter(({ node }) => !isGone(node));
  const gone = new Set(block.loans.map(({ node }) => node).filter(isGone));
  if (ownerGoes) gone.add(block.node!);
  const conditions: Condition[] = [
    { key, expect: revision },
    ...[...gone].flatMap((node) => [...stillUnknown(evidence, node), recordOf(evidence, block.cidr, node)]),
  ];
  const recordWrites: Write[] = ownerGoes
    ? [{ op: 'delete', key: evidence.keys.allocationRecord(block.cidr, block.node!) }]
    : [];
  const hasOwner = block.node !== undefined && !ownerGoes;
  if (!hasOwner && loans.length === 0) {
    const writes: Write[] = [{ op: 'delete', key }, ...recordWrites];
    return repair(`deletes block ${block.cidr}`, { conditions, writes });
  }
  const rest = hasOwner ? { ...block, loans } : withoutOwner(block, loans);
  const what = hasOwner
    ? `takes back borrowed addresses of block ${block.cidr}`
    : `removes the owner of block ${block.cidr}; its borrowed addresses stay`;
  const write: Write = { op: 'put', key, value: encodeObject(blockKind, rest) };
  return repair(what, { conditions, writes: [write, ...recordWrites] });
}

/** The record of the node must be as it was read. */
function recordOf({ keys, allocationRecords }: Evidence, cidr: string, node: string): Condition {
  const key = keys.allocationRecord(cidr, node);
  return { key, expect: allocationRecords.get(key)?.revision ?? 'absent' };
}

function findPending({ snapshot, now, pendingLimit }: Evidence, block: Block): Problem[] {
  if (block.state !== 'pending' || block.node === undefined) return [];
  const nodeState = nodeStateOf(snapshot, block.node);
  const age = now - block.claimedAt;
  if (age < pendingLimit || nodeState === 'unknown') return [];
  const why =
    nodeState === 'present'
      ? `node ${block.node} is up and has to confirm it: see its log`
      : `node ${block.node} cannot be asked: it confirms when it is back`;
  return [
    {
      id: `pending:block:${block.cidr}:${block.node}:${block.claimedAt}`,
      kind: 'pending',
      subject: subjectOf(block),
      message: `block ${block.cidr} was claimed by node ${block.node} ${Math.round(age / 1000)} s ago and never confirmed`,
      node: block.node,
      addresses: [],
      fix: leave(why),
    },
  ];
}

function findBorrowed(evidence: Evidence, stored: Stored<Block>): Problem[] {
  const { value: block } = stored;
  const prefix = prefixFrom(block.cidr);
  return block.loans.flatMap(({ address, node }, index): Problem[] => {
    const nodeState = nodeStateOf(evidence.snapshot, node);
    const about = { subject: subjectOf(block), node, addresses: [address] };
    const isTwice = block.loans.findIndex((loan) => loan.address === address) < index;
    if (nodeState === 'unknown') {
      const message = `${address} of block ${block.cidr} is lent to node ${node}, which is not registered`;
      const id = `orphaned:loan:${block.cidr}:${address}:${node}`;
      const isImport = isUnheard(evidence, block.cidr, node);
      const fix = isImport ? whyUnheard(node) : tidyBlock(evidence, stored);
      return [{ ...about, id, kind: 'orphaned', message, fix }];
    }
    if (!containsPrefix(prefix, prefixFrom(address))) {
      const message = `${address}, lent to node ${node}, is not in its block ${block.cidr}`;
      const id = `outside:loan:${block.cidr}:${address}:${node}`;
      return [{ ...about, id, kind: 'outside', message, fix: leave(whyNot(node, nodeState)) }];
    }
    if (!isTwice) return [];
    const message = `${address} of block ${block.cidr} is lent to node ${node} and to another`;
    const id = `doubled:loan:${block.cidr}:${address}:${node}`;
    return [{ ...about, id, kind: 'doubled', message, fix: leave(whyNot(node, nodeState)) }];
  });
}

/** Sorted by first address, what overlaps a block stands behind it, before everything that does not. */
function findOverlapping(blocks: readonly Block[]): Problem[] {
  const sorted = [...blocks].sort((a, b) => compareCidrs(a.cidr, b.cidr));
  const problems: Problem[] = [];
  let outer: Block | undefined;
  for (const block of sorted) {
    if (outer !== undefined && overlaps(prefixFrom(outer.cidr), prefixFrom(block.cidr))) {
      problems.push(overlapping(outer, block));
    } else outer = block;
  }
  return problems;
}

function overlapping(outer: Block, inner: Block): Problem {
  const owner = ({ node }: Block): string => (node === undefined ? 'no owner' : `node ${node}`);
  return {
    id: `doubled:blocks:${outer.cidr}:${inner.cidr}`,
    kind: 'doubled',
    subject: subjectOf(inner),
    message: `block ${inner.cidr} (${owner(inner)}) overlaps block ${outer.cidr} (${owner(outer)})`,
    ...nodeOf(inner),
    addresses: [],
    fix: leave('one of the two must be emptied: drain the node that is easier to drain'),
  };
}
