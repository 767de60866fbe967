/** The operations of one transaction that makes, changes and removes resources. Pure over the rows that are there. */
import type { Operation, ValueInput } from '@podwire/ovsdb';
import { RowError, takenError } from '../errors.js';
import {
  childColumnsOf,
  EXTERNAL_IDS,
  idOf,
  MARK,
  parentOf,
  type WantedRow,
  type WantedRows,
} from './description.js';
import { differenceOfPairs, ownPairs } from './external-ids.js';
import { describeFound, differingColumns, type FoundRow } from './found.js';
import { Memberships, type Place } from './memberships.js';
import { writtenValue } from './values.js';
import { type AnyRow, markOf, nameOf, pairsOf, uuidFor, type View } from './view.js';

/** Something to do with one resource; `S` is what the caller knows it by. */
export interface Step<S = unknown> {
  readonly action: 'add' | 'replace' | 'remove';
  readonly rows: WantedRows;
  readonly subject: S;
}

export interface PlannedOperation<S> {
  readonly operation: Operation;
  /** Absent where it is about more than one. */
  readonly step?: Step<S>;
}

export interface Plan<S> {
  readonly operations: readonly PlannedOperation<S>[];
  /** Steps that cannot be taken; with one of them the operations are good for nothing. */
  readonly failures: readonly { readonly step: Step<S>; readonly error: unknown }[];
}

export const stepId = ({ rows: [{ table, name }] }: Step): string => idOf(table, name);

export function planTransaction<S>(view: View, steps: readonly Step<S>[]): Plan<S> {
  const planner = new Planner<S>(view);
  for (const step of steps) planner.release(step);
  for (const step of steps) planner.claim(step);
  for (const step of steps) planner.write(step);
  return planner.finish();
}

class Planner<S> {
  readonly #view: View;
  readonly #operations: PlannedOperation<S>[] = [];
  /** They come last: guards before them look at the rows, too. */
  readonly #deletions: PlannedOperation<S>[] = [];
  readonly #failures: { step: Step<S>; error: unknown }[] = [];
  /** The uuids of all rows that are there afterwards because of this transaction, by id. */
  readonly #uuids = new Map<string, string>();
  readonly #released = new Set<string>();
  readonly #memberships = new Memberships();

  constructor(view: View) {
    this.#view = view;
  }

  /** Parts that their resource does not have afterwards may be those of another: a link that comes into a bond. */
  release(step: Step<S>): void {
    if (step.action === 'add') return;
    const kept = new Set(
      step.action === 'remove' ? [] : step.rows.map(({ table, name }) => idOf(table, name)),
    );
    for (const [table, description] of Object.entries(this.#view.tables))
      for (const row of this.#view.findMarked(table, stepId(step))) {
        const id = idOf(table, nameOf(table, description, row) ?? '');
        if (id !== stepId(step) && !kept.has(id)) this.#released.add(row._uuid);
      }
  }

  /** Rows may refer to those of later steps, so the uuids come first. */
  claim(step: Step<S>): void {
    if (step.action === 'remove') return;
    for (const { table, name } of step.rows) {
      const found = this.#view.find(table, name, stepId(step));
      this.#uuids.set(idOf(table, name), found?._uuid ?? uuidFor(table, name));
      if (found === undefined || this.#released.has(found._uuid)) continue;
      const words = `${this.#view.tables[table]!.word} ${name}`;
      if (markOf(found) !== stepId(step))
        this.#fail(step, takenError(`there is a ${words} that is not ours`));
      else if (step.action === 'add')
        this.#fail(step, new RowError('ROW_EXISTS', `there is a ${words} already`));
    }
  }

  write(step: Step<S>): void {
    try {
      if (step.action === 'remove') this.#remove(step);
      else for (const wanted of step.rows) this.#put(step, wanted);
    } catch (error) {
      if (!(error instanceof RowError)) throw error;
      this.#fail(step, error);
    }
  }

  finish(): Plan<S> {
    const members = this.#memberships.operations().map((operation) => ({ operation }));
    return { operations: [...this.#operations, ...members, ...this.#deletions], failures: this.#failures };
  }

  #put(step: Step<S>, wanted: WantedRow): void {
    const id = stepId(step);
    const row = this.#view.find(wanted.table, wanted.name, id);
    if (row === undefined) this.#insert(step, wanted);
    else this.#update(step, wanted, row, describeFound(this.#view, wanted, row));
    this.#hang(step, wanted, row);
    this.#join(step, wanted, row);
  }

  #insert(step: Step<S>, wanted: WantedRow): void {
    const { table, name, columns, externalIds } = wanted;
    const { name: column } = this.#view.tables[table]!;
    const row = {
      ...(column === undefined ? {} : { [column]: name }),
      ...this.#values(wanted, Object.keys(columns)),
      [EXTERNAL_IDS]: ownPairs(stepId(step), externalIds),
    };
    this.#operations.push({ step, operation: { op: 'insert', table, row, uuid: uuidFor(table, name) } });
  }

  #update(step: Step<S>, wanted: WantedRow, row: AnyRow, found: FoundRow): void {
    const { table } = wanted;
    const where = [['_uuid', '==', row._uuid]] as const;
    const columns = differingColumns(wanted, found);
    const { remove, put } = differenceOfPairs(ownPairs(stepId(step), wanted.externalIds), found.pairs);
    if (columns.length === 0 && remove.length === 0 && put.size === 0) return;
    this.#guard(step, table, row);
    const operations: Operation[] = [];
    if (columns.length > 0)
      operations.push({ op: 'update', table, where, row: this.#values(wanted, columns) });
    const mutations = [
      [EXTERNAL_IDS, 'delete', remove],
      [EXTERNAL_IDS, 'insert', put],
    ] as const;
    if (remove.length + put.size > 0) operations.push({ op: 'mutate', table, where, mutations });
    for (const operation of operations) this.#operations.push({ step, operation });
  }

  /** Fails the transaction where the row is gone, or ours no more. */
  #guard(step: Step<S>, table: string, row: AnyRow): void {
    const where = [
      ['_uuid', '==', row._uuid],
      [EXTERNAL_IDS, 'includes', { [MARK]: markOf(row)! }],
    ] as const;
    const operation = { op: 'wait', table, where, columns: [EXTERNAL_IDS], until: '!=', rows: [] } as const;
    this.#operations.push({ step, operation });
  }

  #values({ columns }: WantedRow, names: readonly string[]): { [column: string]: ValueInput } {
    const uuidOf = (table: string, name: string): string => this.#uuidOf(table, name);
    return Object.fromEntries(names.map((name) => [name, writtenValue(columns[name]!, uuidOf)]));
  }

  #uuidOf(table: string, name: string): string {
    const id = idOf(table, name);
    // Of several rows with the name, as switches may have it, the one that is ours.
    const uuid = this.#uuids.get(id) ?? this.#view.find(table, name, id)?._uuid;
    if (uuid !== undefined) return uuid;
    throw new RowError('ROW_MISSING', `there is no ${this.#view.tables[table]!.word} ${name}`);
  }

  /** Puts a row into the set of its parent, and takes it out of those of others. */
  #hang(step: Step<S>, wanted: WantedRow, row: AnyRow | undefined): void {
    const place = this.#placeOf(step, wanted);
    if (place === undefined) return;
    const uuid = this.#uuidOf(wanted.table, wanted.name);
    const places = row === undefined ? [] : this.#view.findParents(wanted.table, uuid);
    for (const other of places) if (other.uuid !== place.uuid) this.#memberships.take(other, uuid);
    if (!places.some((one) => one.uuid === place.uuid)) this.#memberships.put(place, uuid);
  }

  #placeOf(step: Step<S>, wanted: WantedRow): Place | undefined {
    const parent = parentOf(this.#view.tables, wanted);
    if (parent === undefined) return undefined;
    const { parents = [] } = this.#view.tables[wanted.table]!;
    const { table, column, single = false } = parents.find((one) => one.table === parent.table)!;
    const uuid = single ? this.#singleOf(step, table) : this.#uuidOf(table, parent.name);
    return { table, column, uuid };
  }

  /** Puts a row into its groups, and takes it out of others of ours. */
  #join(step: Step<S>, { table, name, groups: names = [] }: WantedRow, row: AnyRow | undefined): void {
    const { groups } = this.#view.tables[table]!;
    if (groups === undefined) return;
    const foreign = names.find((group) => this.#isForeign(groups.table, group));
    if (foreign !== undefined)
      return this.#fail(step, takenError(`${this.#view.tables[groups.table]!.word} ${foreign} is not ours`));
    const uuid = this.#uuidOf(table, name);
    const wanted = new Set(names.map((group) => this.#uuidOf(groups.table, group)));
    const holders = row === undefined ? [] : this.#view.findHolders(groups.table, groups.column, uuid);
    const place = (group: string): Place => ({ table: groups.table, uuid: group, column: groups.column });
    for (const holder of holders)
      if (!wanted.delete(holder._uuid) && markOf(holder) !== undefined)
        this.#memberships.take(place(holder._uuid), uuid);
    for (const group of wanted) this.#memberships.put(place(group), uuid);
  }

  /** Nothing would take a row out of such a group again. */
  #isForeign(table: string, name: string): boolean {
    const found = this.#view.find(table, name);
    return found !== undefined && markOf(found) === undefined;
  }

  /** The only row of a table; where there is none, as in a new database, it is made. */
  #singleOf(step: Step<S>, table: string): string {
    const id = idOf(table, '');
    const known = this.#uuids.get(id) ?? this.#view.findSingle(table)?._uuid;
    if (known !== undefined) return known;
    const uuid = uuidFor(table, '');
    this.#uuids.set(id, uuid);
    this.#operations.push({ step, operation: { op: 'insert', table, row: {}, uuid } });
    return uuid;
  }

  /** A row that is not ours stays as it is. */
  #remove(step: Step<S>): void {
    const [{ table, name }] = step.rows;
    const row = this.#view.find(table, name, stepId(step));
    if (row === undefined || markOf(row) !== stepId(step)) return;
    const stranger = this.#findStranger(table, row);
    if (stranger !== undefined) {
      const { word } = this.#view.tables[table]!;
      return this.#fail(step, takenError(`${stranger}, which is not ours, is in ${word} ${name}`));
    }
    this.#guard(step, table, row);
    const operation = { op: 'delete', table, where: [['_uuid', '==', row._uuid]] } as const;
    this.#deletions.push({ step, operation });
    for (const place of this.#view.findParents(table, row._uuid)) this.#memberships.take(place, row._uuid);
  }

  /** In words: a row of others, which the database would delete with this one. */
  #findStranger(table: string, row: AnyRow): string | undefined {
    for (const [child, column] of childColumnsOf(this.#view.tables, table))
      for (const uuid of row[column] as ReadonlySet<string>) {
        const other = this.#view.get(child, uuid);
        if (other !== undefined && markOf(other) === undefined && !this.#isMadeBeside(child, other))
          return `${this.#view.tables[child]!.word} ${this.#view.nameBehind(child, uuid)}`;
      }
    return undefined;
  }

  #isMadeBeside(table: string, row: AnyRow): boolean {
    const { madeBeside } = this.#view.tables[table]!;
    return madeBeside !== undefined && pairsOf(row).has(madeBeside);
  }

  #fail(step: Step<S>, error: unknown): void {
    if (!this.#failures.some((failure) => failure.step === step)) this.#failures.push({ step, error });
  }
}
