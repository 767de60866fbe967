/** Problems of addresses in use, as nodes have reported them. */
import { containsPrefix } from '@podwire/addresses';
import type { Block, AllocationRecord, Allocation, Stored } from '@podwire/cluster-state';
import { listSome, prefixFrom } from '../text.js';
import { planLeakedFix } from './blocks.js';
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

export function* findInRecords(evidence: Evidence): Generator<Problem[]> {
  for (const record of evidence.snapshot.allocationRecords) {
    yield [...findInRecord(evidence, record), ...findOutside(evidence, record.value)];
  }
  yield* findDoubled(evidence);
}

const subjectOf = ({ node, cidr }: AllocationRecord): string => `ledger of ${node} for ${cidr}`;

/** The first problem of the record as a whole; its consequences are not reported. */
function findInRecord(evidence: Evidence, stored: Stored<AllocationRecord>): Problem[] {
  const { value: record } = stored;
  const block = evidence.snapshot.blocks.get(record.cidr);
  const nodeState = nodeStateOf(evidence.snapshot, record.node);
  const about = { subject: subjectOf(record), node: record.node };
  const isEmpty = record.entries.length === 0;
  if (nodeState === 'unknown') {
    const message = `node ${record.node} is not registered, and ${describe(record.entries)} of ${record.cidr} in its record`;
    const kind = isEmpty ? 'orphaned' : 'leaked';
    return [found(about, kind, record, record.entries, message, planUnknownFix(evidence, stored, block))];
  }
  if (block === undefined) {
    const message = `there is no block ${record.cidr}, and node ${record.node} has ${describe(record.entries)} of it in its record`;
    const conditions = [
      { key: stored.key, expect: stored.revision },
      { key: evidence.keys.block(record.cidr), expect: 'absent' as const },
    ];
    const fix = isEmpty ? dropRecord(stored, conditions) : leave(whyNot(record.node, nodeState));
    return [found(about, 'orphaned', record, record.entries, message, fix)];
  }
  if (block.value.node === record.node)
    return findBorrowed(record, block.value, leave(whyNot(record.node, nodeState)));
  return findNotBorrowed(stored, block, leave(whyNot(record.node, nodeState)));
}

const describe = (entries: readonly Allocation[]): string =>
  entries.length === 0 ? 'nothing' : listSome(entries.map(({ address }) => address));

function found(
  about: Pick<Problem, 'subject' | 'node'>,
  kind: Problem['kind'],
  record: AllocationRecord,
  entries: readonly Allocation[],
  message: string,
  fix: Fix,
): Problem {
  // With owners and times: an address that was handed out again meanwhile is another problem.
  const who = entries.map(({ address, owner, since }) => `${address}=${owner}@${since}`).join(',');
  return {
    ...about,
    id: `${kind}:ledger:${record.cidr}:${record.node}:${who}`,
    kind,
    message,
    addresses: entries.map(({ address }) => address),
    fix,
  };
}

function dropRecord(
  { key, value }: Stored<AllocationRecord>,
  conditions: Parameters<typeof repair>[1]['conditions'],
): Fix {
  return repair(`deletes the ${subjectOf(value)}`, { conditions, writes: [{ op: 'delete', key }] });
}

function planUnknownFix(
  evidence: Evidence,
  stored: Stored<AllocationRecord>,
  block: Stored<Block> | undefined,
): Fix {
  const { node, cidr, reportedAt } = stored.value;
  if (isUnheard(evidence, cidr, node)) return whyUnheard(node);
  if (block?.value.node === node) return planLeakedFix(evidence, block);
  if (evidence.now - reportedAt < evidence.grace)
    return leave('it was reported a moment ago: look again later');
  return dropRecord(stored, [{ key: stored.key, expect: stored.revision }, ...stillUnknown(evidence, node)]);
}

/** An owner that uses an address of its own that another node has borrowed. */
function findBorrowed(record: AllocationRecord, { loans }: Block, fix: Fix): Problem[] {
  const borrowers = new Map(loans.map(({ address, node }) => [address, node]));
  const both = record.entries.filter(
    ({ address }) => (borrowers.get(address) ?? record.node) !== record.node,
  );
  if (both.length === 0) return [];
  const to = [...new Set(both.map(({ address }) => borrowers.get(address)!))];
  const message = `node ${record.node} uses ${describe(both)}, which it has lent to ${listSome(to)}`;
  return [found({ subject: subjectOf(record), node: record.node }, 'doubled', record, both, message, fix)];
}

/** A node that has addresses of another's block and has not borrowed them. */
function findNotBorrowed(stored: Stored<AllocationRecord>, block: Stored<Block>, fix: Fix): Problem[] {
  const { value: record } = stored;
  const own = new Set(
    block.value.loans.filter(({ node }) => node === record.node).map(({ address }) => address),
  );
  const wrong = record.entries.filter(({ address }) => !own.has(address));
  const about = { subject: subjectOf(record), node: record.node };
  const owner = block.value.node === undefined ? 'has no owner' : `node ${block.value.node} owns`;
  if (wrong.length > 0) {
    const message = `node ${record.node} uses ${describe(wrong)} of block ${record.cidr}, which ${owner}`;
    return [found(about, 'leaked', record, wrong, message, fix)];
  }
  if (record.entries.length > 0 || own.size > 0) return [];
  const conditions = [
    { key: stored.key, expect: stored.revision },
    { key: block.key, expect: block.revision },
  ];
  const message = `node ${record.node} has an empty record of block ${record.cidr}, of which it has nothing`;
  return [found(about, 'orphaned', record, [], message, dropRecord(stored, conditions))];
}

function findOutside({ snapshot }: Evidence, record: AllocationRecord): Problem[] {
  const prefix = prefixFrom(record.cidr);
  const wrong = record.entries.filter(({ address }) => !containsPrefix(prefix, prefixFrom(address)));
  if (wrong.length === 0) return [];
  const message = `node ${record.node} has ${describe(wrong)} in its record of block ${record.cidr}`;
  const fix = leave(whyNot(record.node, nodeStateOf(snapshot, record.node)));
  return [found({ subject: subjectOf(record), node: record.node }, 'outside', record, wrong, message, fix)];
}

interface Holder extends Allocation {
  readonly node: string;
}

/** One address in the records of two nodes. Those of unknown nodes are leaked, which is another problem. */
function* findDoubled({ snapshot }: Evidence): Generator<Problem[]> {
  const holders = new Map<string, Holder[]>();
  for (const { value } of snapshot.allocationRecords) {
    yield [];
    if (nodeStateOf(snapshot, value.node) === 'unknown') continue;
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
): Problem {
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
    fix: leave(`pods are never taken down by this: delete ${others.map(name).join(' and ')}`),
  };
}

/** Node that may have the address: the one that has borrowed it, or else the owner of its block. */
function rightfulOf(blocks: Evidence['snapshot']['blocks'], address: string): string | undefined {
  const prefix = prefixFrom(address);
  for (const { value } of blocks.values()) {
    if (!containsPrefix(prefixFrom(value.cidr), prefix)) continue;
    return value.loans.find((loan) => loan.address === address)?.node ?? value.node;
  }
  return undefined;
}
