/** Calico's blocks as ours: whose they are, which addresses are borrowed, and which pods have them. */
import {
  type Address,
  compareAddresses,
  containsAddress,
  containsPrefix,
  formatAddress,
  formatPrefix,
  parseAddress,
  parsePrefix,
  type Prefix,
  prefixOf,
  splitPrefix,
} from '@podwire/addresses';
import type { Block, AllocationRecord, Allocation, Pool } from '@podwire/cluster-state';
import { compact } from '@podwire/platform';
import type { Dump, DumpedBlock, DumpedEndpoint } from '../read/dump.js';
import { listSome, type Diagnostic, type Diagnostics, diagnosticsFor } from '../diagnostics.js';
import { claimTimeOf, type Owner, ownerOf, type Use, usesOf } from './allocations.js';
import type { PlannedPools } from './pools.js';

export interface PlannedBlocks {
  readonly blocks: readonly Block[];
  readonly allocationRecords: readonly AllocationRecord[];
  /** Pool name to addresses and prefixes that are reserved, since their owner is unknown. */
  readonly reserved: ReadonlyMap<string, readonly string[]>;
  /** In use, as blocks and pods say. */
  readonly uses: readonly Use[];
}

/** A block of ours while it is planned. */
interface Draft {
  readonly prefix: Prefix;
  readonly node: string | undefined;
  readonly claimedAt: number;
  readonly uses: { readonly node: string; readonly entry: Allocation }[];
}

interface Place {
  readonly pool: Pool;
  readonly prefix: Prefix;
}

interface Plan {
  readonly drafts: Map<string, Draft>;
  readonly reserved: Map<string, string[]>;
  /** By address. */
  readonly uses: Map<string, Use>;
}

export function planBlocks(
  dump: Dump,
  { pools, skipped }: PlannedPools,
  diagnostics: Diagnostic[],
): PlannedBlocks {
  const places = pools.map((pool): Place => ({ pool, prefix: parsePrefix(pool.cidr) }));
  const others = skipped.map((cidr) => parsePrefix(cidr));
  const context: BlockContext = { places, others, leaving: leavingBlocks(dump) };
  const plan: Plan = { drafts: new Map(), reserved: new Map(), uses: new Map() };
  for (const block of dump.blocks) {
    const about = diagnosticsFor(`block ${block.spec.cidr}`, diagnostics);
    planBlock(plan, block, context, about);
  }
  for (const endpoint of dump.endpoints) protectEndpoint(plan, endpoint, places, diagnostics);
  const drafts = [...plan.drafts.values()];
  return {
    blocks: drafts.map(toBlock),
    allocationRecords: drafts.flatMap(toAllocationRecords),
    reserved: plan.reserved,
    uses: [...plan.uses.values()],
  };
}

interface BlockContext {
  readonly places: readonly Place[];
  /** Prefixes of pools that are left out. */
  readonly others: readonly Prefix[];
  /** `CIDR host:NODE` of blocks that their nodes are giving back. */
  readonly leaving: ReadonlySet<string>;
}

function planBlock(
  plan: Plan,
  block: DumpedBlock,
  { places, others, leaving }: BlockContext,
  about: Diagnostics,
): void {
  const prefix = parsePrefix(block.spec.cidr);
  const place = places.find((each) => containsPrefix(each.prefix, prefix));
  if (place === undefined) {
    if (!others.some((each) => containsPrefix(each, prefix)))
      about.warn('cidr', 'lies in no pool and is left out: no pod will get an address of it');
    return;
  }
  const owner = ownerOf(block, about);
  const uses = usesOf(block, about);
  // Its prefix may be anything, and become any number of blocks.
  if (uses === undefined) return;
  if (owner.type === 'virtual') return reserveVirtual(plan, place, prefix, owner.name, about);
  if (leaving.has(nameOwned(block, owner)) && uses.length === 0)
    return about.note('is being given back, and nothing of it is in use: left out');
  if (prefix.length > place.pool.blockSize)
    return about.error(
      'cidr',
      `is smaller than the blocks of pool ${place.pool.name}, which are /${place.pool.blockSize}`,
    );
  const drafts = draftBlocks(block, owner, place.pool, about);
  for (const use of uses) addUse(plan, use, owner, drafts, place, about);
  reportForeign(uses, owner, about);
  for (const draft of drafts)
    if (draft.node !== undefined || draft.uses.length > 0) addDraft(plan, draft, about);
}

/** Drafts of one pool have one size, so those that overlap are the same. */
function addDraft({ drafts }: Plan, draft: Draft, about: Diagnostics): void {
  const cidr = formatPrefix(draft.prefix);
  if (drafts.has(cidr)) about.error('cidr', `another block overlaps it in ${cidr}`);
  drafts.set(cidr, draft);
}

function reserveVirtual(plan: Plan, { pool }: Place, prefix: Prefix, name: string, about: Diagnostics): void {
  reserve(plan, pool, formatPrefix(prefix));
  about.warn('affinity', `belongs to virtual:${name}, which is no node: reserved in pool ${pool.name}`);
}

function reserve({ reserved }: Plan, { name }: Pool, text: string): void {
  reserved.set(name, [...(reserved.get(name) ?? []), text]);
}

/** The affinity says so before the block is deleted. */
const leavingBlocks = ({ affinities }: Dump): ReadonlySet<string> =>
  new Set(
    affinities
      .filter(({ state }) => state === 'pendingDeletion')
      .map(({ cidr, type, node }) => `${cidr} ${type}:${node}`),
  );

const nameOwned = ({ spec: { cidr } }: DumpedBlock, owner: Owner): string =>
  owner.type === 'host' ? `${cidr} host:${owner.node}` : cidr;

/** A block that is larger than those of its pool (which was made anew since) becomes several of the same node. */
function draftBlocks(block: DumpedBlock, owner: Owner, pool: Pool, about: Diagnostics): Draft[] {
  const prefix = parsePrefix(block.spec.cidr);
  const parts = [...splitPrefix(prefix, pool.blockSize)];
  if (parts.length > 1)
    about.note(
      `becomes ${parts.length} blocks of /${pool.blockSize}, the size that pool ${pool.name} has now`,
    );
  const claimedAt = claimTimeOf(block);
  const node = owner.type === 'host' ? owner.node : undefined;
  return parts.map((part) => ({ prefix: part, node, claimedAt, uses: [] }));
}

function addUse(
  plan: Plan,
  use: Use,
  owner: Owner,
  drafts: readonly Draft[],
  { pool }: Place,
  about: Diagnostics,
): void {
  plan.uses.set(use.entry.address, use);
  const node = use.node ?? (owner.type === 'host' ? owner.node : undefined);
  const draft = drafts.find(({ prefix }) => containsAddress(prefix, use.address));
  if (node !== undefined) return void draft?.uses.push({ node, entry: use.entry });
  reserve(plan, pool, use.entry.address);
  about.warn(
    'attributes',
    `${use.entry.address} is in use (${use.entry.owner}), and the dump names no node for it: reserved in pool ${pool.name}`,
  );
}

function reportForeign(uses: readonly Use[], owner: Owner, about: Diagnostics): void {
  const nowhere = uses.filter(({ node }) => node === undefined).map(({ entry }) => entry.address);
  if (nowhere.length > 0 && owner.type === 'host')
    about.warn('attributes', `${listSome(nowhere)}: no node is named; taken for addresses of ${owner.node}`);
  const borrowed = uses.filter(
    ({ node }) => owner.type === 'host' && node !== undefined && node !== owner.node,
  );
  if (borrowed.length > 0)
    about.note(`borrowed: ${listSome(borrowed.map(({ entry, node }) => `${entry.address} by ${node}`))}`);
}

/** A pod may have an address that no block knows of: Calico has lost it, and would hand it out again. */
function protectEndpoint(
  plan: Plan,
  endpoint: DumpedEndpoint,
  places: readonly Place[],
  diagnostics: Diagnostic[],
): void {
  for (const text of endpoint.addresses) {
    const address = parseAddress(text);
    const place = places.find(({ prefix }) => containsAddress(prefix, address));
    if (place === undefined || plan.uses.has(formatAddress(address))) continue;
    protectAddress(plan, endpoint, address, place, diagnosticsFor(endpoint.object, diagnostics));
  }
}

function protectAddress(
  plan: Plan,
  { node, pod, object }: DumpedEndpoint,
  address: Address,
  { pool }: Place,
  about: Diagnostics,
): void {
  const text = formatAddress(address);
  const entry = { address: text, owner: object, ...(pod === '' ? {} : { pod }), since: 0 };
  const draft = plan.drafts.get(formatPrefix(prefixOf(address, pool.blockSize)));
  const isKnown = draft !== undefined && node !== '';
  if (isKnown) draft.uses.push({ node, entry });
  else reserve(plan, pool, text);
  plan.uses.set(text, { address, node: node === '' ? undefined : node, entry });
  const how = isKnown ? `taken over as in use on ${node}` : `reserved in pool ${pool.name}`;
  about.warn('addresses', `${text} is in no block of Calico, which may hand it out a second time; ${how}`);
}

/** Without an instance: the agent of that name takes it for its own. */
function toBlock({ prefix, node, claimedAt, uses }: Draft): Block {
  const loans = uses
    .filter((use) => use.node !== node)
    .map((use) => ({ address: use.entry.address, node: use.node }));
  return {
    cidr: formatPrefix(prefix),
    ...compact({ node }),
    state: 'confirmed',
    claimedAt,
    loans: loans.toSorted((a, b) => compareAddresses(parseAddress(a.address), parseAddress(b.address))),
  };
}

function toAllocationRecords({ prefix, claimedAt, uses }: Draft): AllocationRecord[] {
  const nodes = [...new Set(uses.map(({ node }) => node))].sort();
  return nodes.map((node) => {
    const entries = uses.filter((use) => use.node === node).map(({ entry }) => entry);
    return {
      cidr: formatPrefix(prefix),
      node,
      entries: entries.toSorted((a, b) => compareAddresses(parseAddress(a.address), parseAddress(b.address))),
      // Not the time of the import: the same dump must give the same objects.
      reportedAt: Math.max(claimedAt, ...entries.map(({ since }) => since)),
      imported: true,
    };
  });
}
