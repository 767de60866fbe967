/** What is wrong with addresses in use, as nodes have reported them. */
import { containsPrefix } from '@podwire/addresses';
import type { Block, AllocationRecord, Allocation, Stored } from '@podwire/cluster-state';
import { listSome, prefixFrom } from '../text.js';
import { remedyForLeaked } from './blocks.js';
import {
  type Evidence,
  type Finding,
  leave,
  mend,
  type Remedy,
  standingOf,
  stillUnknown,
  whyNot,
  isUnheard,
  whyUnheard,
} from './finding.js';

export function* findInLedgers(evidence: Evidence): Generator<Finding[]> {
  for (const ledger of evidence.snapshot.allocationRecords) {
    yield [...findInLedger(evidence, ledger), ...findOutside(evidence, ledger.value)];
  }
  yield* findDoubled(evidence);
}

const subjectOf = ({ node, cidr }: AllocationRecord): string => `ledger of ${node} for ${cidr}`;

/** The first problem of the record as a whole; its consequences are not reported. */
function findInLedger(evidence: Evidence, stored: Stored<AllocationRecord>): Finding[] {
  const { value: ledger } = stored;
  const block = evidence.snapshot.blocks.get(ledger.cidr);
  const standing = standingOf(evidence.snapshot, ledger.node);
  const about = { subject: subjectOf(ledger), node: ledger.node };
  const isEmpty = ledger.entries.length === 0;
  if (standing === 'unknown') {
    const message = `node ${ledger.node} is not registered, and ${describe(ledger.entries)} of ${ledger.cidr} in its books`;
    const kind = isEmpty ? 'orphaned' : 'leaked';
    return [found(about, kind, ledger, ledger.entries, message, remedyForUnknown(evidence, stored, block))];
  }
  if (block === undefined) {
    const message = `there is no block ${ledger.cidr}, and node ${ledger.node} has ${describe(ledger.entries)} of it in its books`;
    const conditions = [
      { key: stored.key, expect: stored.revision },
      { key: evidence.keys.block(ledger.cidr), expect: 'absent' as const },
    ];
    const remedy = isEmpty ? dropLedger(stored, conditions) : leave(whyNot(ledger.node, standing));
    return [found(about, 'orphaned', ledger, ledger.entries, message, remedy)];
  }
  if (block.value.node === ledger.node)
    return findLentAway(ledger, block.value, leave(whyNot(ledger.node, standing)));
  return findNotLent(stored, block, leave(whyNot(ledger.node, standing)));
}

const describe = (entries: readonly Allocation[]): string =>
  entries.length === 0 ? 'nothing' : listSome(entries.map(({ address }) => address));

function found(
  about: Pick<Finding, 'subject' | 'node'>,
  kind: Finding['kind'],
  ledger: AllocationRecord,
  entries: readonly Allocation[],
  message: string,
  remedy: Remedy,
): Finding {
  // With owners and times: an address that was handed out again meanwhile is another finding.
  const who = entries.map(({ address, owner, since }) => `${address}=${owner}@${since}`).join(',');
  return {
    ...about,
    id: `${kind}:ledger:${ledger.cidr}:${ledger.node}:${who}`,
    kind,
    message,
    addresses: entries.map(({ address }) => address),
    remedy,
  };
}

function dropLedger(
  { key, value }: Stored<AllocationRecord>,
  conditions: Parameters<typeof mend>[1]['conditions'],
): Remedy {
  return mend(`deletes the ${subjectOf(value)}`, { conditions, writes: [{ op: 'delete', key }] });
}

function remedyForUnknown(
  evidence: Evidence,
  stored: Stored<AllocationRecord>,
  block: Stored<Block> | undefined,
): Remedy {
  const { node, cidr, reportedAt } = stored.value;
  if (isUnheard(evidence, cidr, node)) return whyUnheard(node);
  if (block?.value.node === node) return remedyForLeaked(evidence, block);
  if (evidence.now - reportedAt < evidence.grace)
    return leave('it was reported a moment ago: look again later');
  return dropLedger(stored, [{ key: stored.key, expect: stored.revision }, ...stillUnknown(evidence, node)]);
}

/** An owner that uses what it has lent. */
function findLentAway(ledger: AllocationRecord, { loans }: Block, remedy: Remedy): Finding[] {
  const lent = new Map(loans.map(({ address, node }) => [address, node]));
  const both = ledger.entries.filter(({ address }) => (lent.get(address) ?? ledger.node) !== ledger.node);
  if (both.length === 0) return [];
  const to = [...new Set(both.map(({ address }) => lent.get(address)!))];
  const message = `node ${ledger.node} uses ${describe(both)}, which it has lent to ${listSome(to)}`;
  return [found({ subject: subjectOf(ledger), node: ledger.node }, 'doubled', ledger, both, message, remedy)];
}

/** A node that has addresses of another's block which that one has not lent to it. */
function findNotLent(stored: Stored<AllocationRecord>, block: Stored<Block>, remedy: Remedy): Finding[] {
  const { value: ledger } = stored;
  const own = new Set(
    block.value.loans.filter(({ node }) => node === ledger.node).map(({ address }) => address),
  );
  const wrong = ledger.entries.filter(({ address }) => !own.has(address));
  const about = { subject: subjectOf(ledger), node: ledger.node };
  const owner = block.value.node === undefined ? 'has no owner' : `node ${block.value.node} owns`;
  if (wrong.length > 0) {
    const message = `node ${ledger.node} uses ${describe(wrong)} of block ${ledger.cidr}, which ${owner}`;
    return [found(about, 'leaked', ledger, wrong, message, remedy)];
  }
  if (ledger.entries.length > 0 || own.size > 0) return [];
  const conditions = [
    { key: stored.key, expect: stored.revision },
    { key: block.key, expect: block.revision },
  ];
  const message = `node ${ledger.node} keeps empty books of block ${ledger.cidr}, of which it has nothing`;
  return [found(about, 'orphaned', ledger, [], message, dropLedger(stored, conditions))];
}

function findOutside({ snapshot }: Evidence, ledger: AllocationRecord): Finding[] {
  const prefix = prefixFrom(ledger.cidr);
  const wrong = ledger.entries.filter(({ address }) => !containsPrefix(prefix, prefixFrom(address)));
  if (wrong.length === 0) return [];
  const message = `node ${ledger.node} has ${describe(wrong)} in its books of block ${ledger.cidr}`;
  const remedy = leave(whyNot(ledger.node, standingOf(snapshot, ledger.node)));
  return [
    found({ subject: subjectOf(ledger), node: ledger.node }, 'outside', ledger, wrong, message, remedy),
  ];
}

interface Holder extends Allocation {
  readonly node: string;
}

/** One address in the records of two nodes. Those of unknown nodes are leaked, which is another problem. */
function* findDoubled({ snapshot }: Evidence): Generator<Finding[]> {
  const holders = new Map<string, Holder[]>();
  for (const { value } of snapshot.allocationRecords) {
    yield [];
    if (standingOf(snapshot, value.node) === 'unknown') continue;
    for (const entry of value.entries) {
      const holder = { ...entry, node: value.node };
      const known = holders.get(entry.address);
      if (known === undefined) holders.set(entry.address, [holder]);
      else known.push(holder);
    }
  }
  for (const [address, all] of holders) if (all.length > 1) yield [doubled(snapshot.blocks, address, all)];
}

function doubled(
  blocks: Evidence['snapshot']['blocks'],
  address: string,
  holders: readonly Holder[],
): Finding {
  const rightful = rightfulOf(blocks, address);
  const wrong = holders.filter(({ node }) => node !== rightful);
  const name = ({ pod, owner, node }: Holder): string => `${pod ?? owner} on ${node}`;
  const others = wrong.length === 0 ? holders.slice(1) : wrong;
  return {
    id: `doubled:address:${address}:${holders.map(({ owner, node, since }) => `${owner}@${node}@${since}`).join(',')}`,
    kind: 'doubled',
    subject: `address ${address}`,
    message: `${address} is in use by ${holders.map(name).join(' and by ')}`,
    node: others[0]!.node,
    addresses: [address],
    remedy: leave(`pods are never taken down by this: delete ${others.map(name).join(' and ')}`),
  };
}

/** Who may have the address: whom it was lent to, or else the owner of its block. */
function rightfulOf(blocks: Evidence['snapshot']['blocks'], address: string): string | undefined {
  const prefix = prefixFrom(address);
  for (const { value } of blocks.values()) {
    if (!containsPrefix(prefixFrom(value.cidr), prefix)) continue;
    return value.loans.find((loan) => loan.address === address)?.node ?? value.node;
  }
  return undefined;
}
