/** References between rows at the end of a transaction (RFC 7047, section 3.2). */
import type { Row } from '../decode.js';
import type { BaseType, ColumnType, TableSchema } from '../schema.js';
import type { Atom, Value } from '../values.js';
import { keysOf, sizeOf } from './datum.js';
import type { Draft } from './draft.js';
import { constraintViolation, Failure } from './failure.js';

/** How many strong references there are to a row, by `table/uuid`. */
export type ReferenceCounts = Map<string, number>;

const keyOf = (table: string, uuid: string): string => `${table}/${uuid}`;
const integrity = (details: string): Failure => new Failure('referential integrity violation', details);

/** Counts anew for the rows that the draft has changed, and deletes rows that are not referenced. @throws Failure */
export class ReferenceCheck {
  readonly #draft: Draft;
  readonly #committed: ReferenceCounts;
  readonly #counts: ReferenceCounts = new Map();

  constructor(draft: Draft, committed: ReferenceCounts) {
    this.#draft = draft;
    this.#committed = committed;
  }

  run(): ReferenceCounts {
    for (const { table, before, after } of this.#draft.changes()) {
      this.#count(table, before, -1);
      this.#count(table, after, 1);
    }
    this.#requireTargets();
    this.#collectGarbage();
    return this.#counts;
  }

  #countOf(key: string): number {
    return this.#counts.get(key) ?? this.#committed.get(key) ?? 0;
  }

  #count(table: string, row: Row | undefined, by: number): void {
    if (row === undefined) return;
    for (const [target, uuid] of strongReferences(row, this.#draft.schema.tables.get(table)!)) {
      // A row does not keep itself.
      if (target === table && uuid === row['_uuid']) continue;
      const key = keyOf(target, uuid);
      this.#counts.set(key, this.#countOf(key) + by);
    }
  }

  #requireTargets(): void {
    for (const { table, uuid, after } of this.#draft.changes())
      if (after === undefined && this.#countOf(keyOf(table, uuid)) > 0)
        throw integrity(`there are references to the row ${uuid} of ${table}, which would be deleted`);
    for (const [key, count] of this.#counts) {
      const [table = '', uuid = ''] = key.split('/');
      if (count > 0 && this.#draft.get(table, uuid) === undefined)
        throw integrity(`the table ${table} has no row ${uuid}, and there are references to it`);
    }
  }

  /** Each deletion may leave others without a reference. */
  #collectGarbage(): void {
    const candidates = [
      ...this.#counts.keys(),
      ...this.#draft.changes().map(({ table, uuid }) => keyOf(table, uuid)),
    ];
    for (let key = candidates.pop(); key !== undefined; key = candidates.pop()) {
      const [table = '', uuid = ''] = key.split('/');
      const schema = this.#draft.schema.tables.get(table)!;
      const row = this.#draft.get(table, uuid);
      if (row === undefined || schema.isRoot || this.#countOf(key) > 0) continue;
      this.#draft.put(table, uuid, undefined);
      this.#count(table, row, -1);
      for (const [target, other] of strongReferences(row, schema)) candidates.push(keyOf(target, other));
    }
  }
}

type Reference = readonly [table: string, uuid: string];

function* strongReferences(row: Row, table: TableSchema): Generator<Reference> {
  for (const [name, { type }] of table.columns)
    for (const [base, atom] of referencesOf(row[name], type))
      if (base.refType === 'strong') yield [base.refTable!, atom];
}

/** The uuids of a value that refer to rows, with their types. */
function* referencesOf(value: Value, type: ColumnType): Generator<readonly [BaseType, string]> {
  if (type.key.refTable !== undefined) for (const atom of keysOf(value)) yield [type.key, atom as string];
  if (type.value?.refTable !== undefined && value instanceof Map)
    for (const atom of (value as ReadonlyMap<Atom, Atom>).values()) yield [type.value, atom as string];
}

/** Takes weak references to rows that are not there out of their columns. @throws Failure: one of them must not be empty */
export function dropWeakReferences(draft: Draft): void {
  const isGone = (table: string, uuid: string): boolean => draft.get(table, uuid) === undefined;
  const deleted = new Set<string>();
  const changed = new Set<string>();
  for (const { table, uuid, after } of draft.changes())
    if (after === undefined) deleted.add(table);
    else changed.add(keyOf(table, uuid));
  for (const [name, table] of draft.schema.tables) {
    const targets = weakTargets(table);
    if (targets.length === 0) continue;
    const isAffected = targets.some((target) => deleted.has(target));
    for (const row of [...draft.rows(name)])
      if (isAffected || changed.has(keyOf(name, row['_uuid'] as string)))
        dropFromRow(draft, name, table, row, isGone);
  }
}

function weakTargets(table: TableSchema): readonly string[] {
  return [...table.columns.values()]
    .flatMap(({ type }) => [type.key, type.value])
    .flatMap((base) => (base?.refType === 'weak' && base.refTable !== undefined ? [base.refTable] : []));
}

function dropFromRow(
  draft: Draft,
  name: string,
  table: TableSchema,
  row: Row,
  isGone: (table: string, uuid: string) => boolean,
): void {
  const values: Record<string, Value> = {};
  for (const [column, { type }] of table.columns) {
    const rest = dropFromValue(row[column], type, isGone);
    if (rest === row[column]) continue;
    if (sizeOf(rest) < type.min)
      throw constraintViolation(`the weak reference of ${name}, column ${column}, must not be empty`);
    values[column] = rest;
  }
  if (Object.keys(values).length > 0) draft.put(name, row['_uuid'] as string, { ...row, ...values });
}

/** The same value when there is nothing to drop. */
function dropFromValue(
  value: Value,
  type: ColumnType,
  isGone: (table: string, uuid: string) => boolean,
): Value {
  const isDangling = (base: BaseType | undefined, atom: Atom): boolean =>
    base?.refType === 'weak' && isGone(base.refTable!, atom as string);
  const atoms = keysOf(value);
  if (value instanceof Map) {
    const pairs = [...(value as ReadonlyMap<Atom, Atom>)];
    const kept = pairs.filter(([key, item]) => !isDangling(type.key, key) && !isDangling(type.value, item));
    return kept.length === pairs.length ? value : new Map(kept);
  }
  const kept = atoms.filter((atom) => !isDangling(type.key, atom));
  if (kept.length === atoms.length) return value;
  return value instanceof Set ? new Set(kept) : kept[0];
}
