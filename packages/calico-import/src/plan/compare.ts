/** The plan beside what is there: what is to be made, what was made before, what is in the way. */
import { isDeepStrictEqual } from 'node:util';
import { overlaps, parsePrefix } from '@podwire/addresses';
import {
  type Block,
  blockKind,
  type AllocationRecord,
  allocationRecordKind,
  type Pool,
  poolKind,
} from '@podwire/cluster-state';
import { describeError, PodwireError } from '@podwire/errors';
import { type AnyObject, encodeStoredObject, objectKey, referenceOf } from '@podwire/objects';
import { encodeObject, type ObjectKind } from '@podwire/store';
import { type Diagnostic, diagnosticsFor } from '../diagnostics.js';
import type { DumpedPolicyObject } from '../read/dump.js';
import type { Imported, ImportState } from './state.js';

/** An object to write where nothing is. */
export interface Creation {
  readonly kind: Imported;
  /** `pool default-pool`, `block 10.0.0.0/26`, `ledger of n1 for 10.0.0.0/26`, `NetworkPolicy shop/web`. */
  readonly object: string;
  readonly key: string;
  readonly text: string;
}

export interface Comparison {
  readonly creations: readonly Creation[];
  /** Objects that are there already, as they should be or further on. */
  readonly present: number;
}

export interface Planned {
  readonly policies: readonly DumpedPolicyObject[];
  readonly pools: readonly Pool[];
  readonly blocks: readonly Block[];
  readonly allocationRecords: readonly AllocationRecord[];
}

interface Candidate {
  readonly kind: Imported;
  readonly object: string;
  readonly key: string;
  readonly encode: () => string;
  readonly value: Pool | Block | AllocationRecord | AnyObject;
}

export function compareWithState(
  planned: Planned,
  state: ImportState,
  diagnostics: Diagnostic[],
): Comparison {
  reportOverlaps(planned.blocks, state, diagnostics);
  const adopted = adoptedBlocks(planned.blocks, state);
  const creations: Creation[] = [];
  let present = 0;
  for (const candidate of candidatesOf(planned, state)) {
    if (state.objects.has(candidate.key) || isSettled(candidate, adopted)) {
      present++;
      reportDifference(candidate, state, adopted, diagnostics);
    } else creations.push(...create(candidate, diagnostics));
  }
  return { creations, present };
}

/**
 * Policies come first: whatever starts with the imported addresses is closed as it was. Allocation records come before their blocks: an agent that takes a block over finds the addresses in use in them. Pools come
 * last: without a pool no node claims a block that is about to be imported.
 */
function candidatesOf(
  { policies, pools, blocks, allocationRecords }: Planned,
  { keys }: ImportState,
): Candidate[] {
  const candidate = <T extends Pool | Block | AllocationRecord>(
    kind: Imported,
    schema: ObjectKind<T>,
    object: string,
    key: string,
    value: T,
  ): Candidate => ({ kind, object, key, value, encode: () => encodeObject(schema, value) });
  return [
    ...policies.map((each) => toObjectCandidate(each, keys.root)),
    ...allocationRecords.map((each) =>
      candidate(
        'ledger',
        allocationRecordKind,
        `ledger of ${each.node} for ${each.cidr}`,
        keys.allocationRecord(each.cidr, each.node),
        each,
      ),
    ),
    ...blocks.map((each) => candidate('block', blockKind, `block ${each.cidr}`, keys.block(each.cidr), each)),
    ...pools.map((each) => candidate('pool', poolKind, `pool ${each.name}`, keys.pool(each.name), each)),
  ];
}

/** As it will be read again: without what is undefined. */
function toObjectCandidate({ object, value, created }: DumpedPolicyObject, root: string): Candidate {
  const plain = JSON.parse(JSON.stringify(value)) as AnyObject;
  return {
    kind: 'object',
    object,
    key: objectKey(root, referenceOf(value)),
    value: plain,
    encode: () => encodeStoredObject(plain, undefined, created),
  };
}

function create({ kind, object, key, encode }: Candidate, diagnostics: Diagnostic[]): Creation[] {
  try {
    return [{ kind, object, key, text: encode() }];
  } catch (error) {
    // Faults of pools are reported before.
    if (kind === 'pool') return [];
    const field = error instanceof PodwireError ? String(error.details['field'] ?? '') : '';
    diagnosticsFor(object, diagnostics).error(field.replace(/^value\./, ''), describeError(error));
    return [];
  }
}

/** Blocks that an agent has taken over since they were imported: what it says of them counts. */
function adoptedBlocks(blocks: readonly Block[], { keys, objects }: ImportState): ReadonlySet<string> {
  const adopted = blocks.filter(({ cidr, node }) => {
    const there = objects.get(keys.block(cidr))?.value as Block | undefined;
    return there?.instance !== undefined && there.node === node;
  });
  return new Set(adopted.map(({ cidr }) => cidr));
}

/** The allocation record of an adopted block is its agent's; one that is gone has ended. */
function isSettled({ kind, value }: Candidate, adopted: ReadonlySet<string>): boolean {
  return kind === 'ledger' && adopted.has((value as AllocationRecord).cidr);
}

function reportDifference(
  { object, key, kind, value }: Candidate,
  { objects }: ImportState,
  adopted: ReadonlySet<string>,
  diagnostics: Diagnostic[],
): void {
  const there = objects.get(key);
  const isOfBlock = kind === 'block' || kind === 'ledger';
  if (isOfBlock && adopted.has((value as Block | AllocationRecord).cidr)) return;
  if (there === undefined || isDeepStrictEqual(there.value, value)) return;
  const about = diagnosticsFor(object, diagnostics);
  if (there.reason !== undefined)
    return about.error('', `is there already and cannot be read: ${there.reason}`);
  const [is, wanted] = [there.value, value] as unknown as readonly Readonly<Record<string, unknown>>[];
  const fields = [...new Set([...Object.keys(is ?? {}), ...Object.keys(wanted ?? {})])];
  for (const field of fields.filter((each) => !isDeepStrictEqual(is?.[each], wanted?.[each])))
    about.error(
      field,
      `is there already with ${show(is?.[field])}, and the dump says ${show(wanted?.[field])}`,
    );
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Blocks of another size that others have made. */
function reportOverlaps(blocks: readonly Block[], { objects }: ImportState, diagnostics: Diagnostic[]): void {
  const there = [...objects.values()]
    .filter(({ kind, value }) => kind === 'block' && value !== undefined)
    .map(({ value }) => (value as Block).cidr);
  if (there.length === 0) return;
  const planned = new Set(blocks.map(({ cidr }) => cidr));
  const prefixes = there
    .filter((cidr) => !planned.has(cidr))
    .map((cidr) => [cidr, parsePrefix(cidr)] as const);
  for (const { cidr } of blocks) {
    const prefix = parsePrefix(cidr);
    const [other] = prefixes.find(([, each]) => overlaps(each, prefix)) ?? [];
    if (other !== undefined)
      diagnosticsFor(`block ${cidr}`, diagnostics).error(
        'cidr',
        `overlaps block ${other}, which is there already`,
      );
  }
}
