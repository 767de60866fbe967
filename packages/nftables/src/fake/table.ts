import { compact } from '@podwire/platform';
import type { AppliedTable } from '../apply-table.js';
import { type Declaration, parseBody } from '../declarations.js';
import { describeChange, type Element, type ElementChange, type Verdict } from '../element.js';
import { refusal } from '../errors.js';
import type { Family } from '../protocol.js';
import { boundsOf, canonicalInterval, isIntervalKey, overlap } from '../interval.js';
import type { ChainDeclaration, SetDeclaration } from '../rules/statement.js';
import { digestTable, type TableDeclaration } from '../seal.js';
import { encodeValues, lengthOfTypes, parseTypes, type Value } from '../values.js';

/** A set or map as the kernel would hold it: it compares bytes, not types. */
export interface FakeSet {
  readonly declaration: Declaration;
  /** Its keys are intervals. */
  readonly interval: boolean;
  /** Lengths in bytes; `undefined` where the fake cannot tell (`typeof`, foreign types). */
  readonly keyLength: number | undefined;
  readonly data: number | 'verdict' | 'none' | undefined;
  readonly size: number;
  /** Where it was declared by a command. */
  readonly declared?: SetDeclaration;
  /** By the key's bytes in hexadecimal. */
  readonly elements: ReadonlyMap<string, Element>;
}

export interface FakeTable {
  readonly family: Family;
  readonly name: string;
  readonly chains: readonly string[];
  /** Of chains that were put with their rules. */
  readonly rules: ReadonlyMap<string, ChainDeclaration>;
  readonly sets: ReadonlyMap<string, FakeSet>;
  readonly digest: string | undefined;
}

/** A table as it stands after its declaration was applied, and what became of its sets. */
export function declareTable(
  declaration: TableDeclaration,
  before: FakeTable | undefined,
): { readonly table: FakeTable; readonly applied: AppliedTable } {
  const { family, name, body } = declaration;
  const declarations = parseBody(body);
  const chains = declarations.filter(({ kind }) => kind === 'chain').map((chain) => chain.name);
  const sets = declarations.filter(({ kind }) => kind === 'set' || kind === 'map').map(declareSet);
  const carried = sets.map((set) => carryOver(set, before?.sets.get(set.declaration.name)));
  checkJumps(carried, chains, `apply table ${family} ${name}`);
  const table = {
    family,
    name,
    chains,
    rules: new Map<string, ChainDeclaration>(),
    sets: new Map(carried.map((set) => [set.declaration.name, set])),
    digest: digestTable(declaration),
  };
  return { table, applied: { changed: true, ...fates(before, table) } };
}

function fates(before: FakeTable | undefined, after: FakeTable): Pick<AppliedTable, 'recreated' | 'emptied'> {
  const known = before?.digest !== undefined;
  const remade = [...(before?.sets ?? [])].filter(
    ([name, set]) => !known || set.declaration.text !== after.sets.get(name)?.declaration.text,
  );
  const carried = ([name, set]: [string, FakeSet]) =>
    after.sets.get(name)?.declaration.types === set.declaration.types;
  const names = (sets: [string, FakeSet][]) => sets.map(([name]) => name);
  return { recreated: names(remade.filter(carried)), emptied: names(remade.filter((set) => !carried(set))) };
}

function declareSet(declaration: Declaration): FakeSet {
  const [, key = '', data] = /^type (.*?)(?: : (.*))?$/.exec(declaration.types ?? '') ?? [];
  return {
    declaration,
    interval: /[{;] flags [\w, ]*\binterval\b/.test(declaration.text),
    keyLength: byteLength(key),
    data: declaration.kind === 'set' ? 'none' : data === 'verdict' ? data : byteLength(data ?? ''),
    size: Number(/[{;] size (\d+) [;}]/.exec(declaration.text)?.[1] ?? Infinity),
    elements: new Map(),
  };
}

/** A set as a command declares it. */
export function createSet(declared: SetDeclaration): FakeSet {
  const { name, key, data, interval = false } = declared;
  const kind = data === undefined ? 'set' : 'map';
  return {
    declaration: { kind, name, text: JSON.stringify(declared), types: undefined },
    interval,
    keyLength: lengthOfTypes(key),
    data: data === undefined ? 'none' : data === 'verdict' ? data : lengthOfTypes(data),
    size: Infinity,
    declared,
    elements: new Map(),
  };
}

function byteLength(types: string): number | undefined {
  const known = parseTypes(types);
  return known === undefined ? undefined : lengthOfTypes(known);
}

function carryOver(set: FakeSet, before: FakeSet | undefined): FakeSet {
  const same = before !== undefined && before.declaration.types === set.declaration.types;
  return same ? { ...set, elements: before.elements } : set;
}

const jumpTarget = (verdict: Verdict | undefined) =>
  verdict && 'chain' in verdict ? verdict.chain : undefined;

function checkJumps(sets: readonly FakeSet[], chains: readonly string[], label: string): void {
  const targets = sets.flatMap((set) => [...set.elements.values()].map(({ verdict }) => jumpTarget(verdict)));
  if (targets.some((chain) => chain !== undefined && !chains.includes(chain)))
    throw refusal('EBUSY', 16, label);
}

/** Of an interval its two ends: `0a000000-0a010000`, `ff000000-`. */
export function keyOf({ key }: Pick<Element, 'key'>): string {
  const bounds = boundsOf(key);
  if (bounds === undefined) return hex(encodeValues(key));
  return `${hex(bounds.first)}-${bounds.end === undefined ? '' : hex(bounds.end)}`;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const EEXIST = 17;
const ENOENT = 2;
const EINVAL = 22;
const ENFILE = 23;

/** A set while a transaction changes it. */
export interface SetDraft {
  readonly set: FakeSet;
  readonly elements: Map<string, Element>;
  /** How many elements count against its size. As in the kernel, what a transaction removes makes no room in it. */
  count: number;
}

export function draftSet(set: FakeSet): SetDraft {
  return { set, elements: new Map(set.elements), count: set.elements.size };
}

/** Carries out one change. @throws NftablesError; the draft is worth nothing then. */
export function changeSet(draft: SetDraft, change: ElementChange, index: number): void {
  const { set, elements } = draft;
  const fail = (code: string, errno: number) => refusal(code, errno, describeChange(change), index);
  const key = keyOf(change);
  const there = elements.get(key);
  if (isRemovedInterval(change) && there === undefined) {
    if (change.op === 'destroy') return;
    throw fail('ENOENT', ENOENT);
  }
  if (!fits(set, change)) throw fail('EINVAL', EINVAL);
  if (change.op === 'delete' && there === undefined) throw fail('ENOENT', ENOENT);
  if (change.op === 'delete' || change.op === 'destroy') {
    elements.delete(key);
    return;
  }
  if (there !== undefined && change.op === 'create') throw fail('EEXIST', EEXIST);
  if (there !== undefined && change.op === 'add') {
    if (!sameData(there, change)) throw fail('EEXIST', EEXIST);
    return;
  }
  const inTheWay = set.interval ? [...elements].filter(([, other]) => overlap(change.key, other.key)) : [];
  if (change.op !== 'replace' && inTheWay.length > 0) throw fail('EEXIST', EEXIST);
  for (const [name] of inTheWay) elements.delete(name);
  if (draft.count >= set.size) throw fail('ENFILE', ENFILE);
  elements.set(key, elementOf(change));
  draft.count++;
}

/** Looked up first, so that it makes no difference which set it is not in. */
const isRemovedInterval = ({ op, key }: ElementChange): boolean =>
  isIntervalKey(key) && (op === 'delete' || op === 'destroy');

function fits(set: FakeSet, change: ElementChange): boolean {
  const bytes = boundsOf(change.key)?.first ?? encodeValues(change.key);
  if (isIntervalKey(change.key) !== set.interval) return false;
  if (set.keyLength !== undefined && bytes.length !== set.keyLength) return false;
  if (change.op === 'delete' || change.op === 'destroy') return true;
  if (set.data === undefined) return true;
  if (set.data === 'none') return change.value === undefined && change.verdict === undefined;
  if (set.data === 'verdict') return change.verdict !== undefined;
  return change.value !== undefined && encodeValues(change.value).length === set.data;
}

export function sameData(a: Element, b: Element): boolean {
  const bytes = ({ value }: Element) => (value === undefined ? '' : hex(encodeValues(value)));
  return (
    bytes(a) === bytes(b) &&
    a.verdict?.verdict === b.verdict?.verdict &&
    jumpTarget(a.verdict) === jumpTarget(b.verdict)
  );
}

/** Without the place, and values as the kernel would give them back. */
function elementOf({ key, value, verdict, comment }: ElementChange): Element {
  const [first] = key;
  return {
    key: isIntervalKey(key) ? [{ ...first!, value: canonicalInterval(key) } as Value] : key,
    ...compact({ value, verdict, comment }),
  };
}
