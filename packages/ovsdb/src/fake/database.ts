import { defaultValue, zeroUuid } from '../cache/difference.js';
import type { Row } from '../decode.js';
import type { DatabaseSchema } from '../schema.js';
import { areSameValues, type Json, type Value } from '../values.js';
import { Draft, type RowChange, type Tables } from './draft.js';
import { Failure } from './failure.js';
import { Blocked, execute, Names } from './operations.js';
import { dropWeakReferences, ReferenceCheck, type ReferenceCounts } from './references.js';
import { checkRowCounts, type UniqueKeys, updateKeys } from './uniqueness.js';

export interface DatabaseOptions {
  readonly schema: DatabaseSchema;
  readonly createUuid: () => string;
  /** Transactions that can be continued from (`monitor_cond_since`); 0 as in a standalone database, which knows none. */
  readonly history: number;
}

/** One transaction that has changed something. */
export interface Commit {
  readonly id: string;
  readonly changes: readonly RowChange[];
}

/** The outcome of a transaction: its results, or how long its client wants to wait for a condition. */
export type Outcome =
  | { readonly results: readonly Json[]; readonly commit?: Commit }
  | { readonly blocked: Blocked; readonly results: readonly Json[] };

/** The rows of one database and the rules of its schema. */
export class Database {
  readonly options: DatabaseOptions;
  readonly #tables: ReadonlyMap<string, Map<string, Row>>;
  readonly #counts: ReferenceCounts = new Map();
  readonly #keys: UniqueKeys = new Map();
  #history: readonly Commit[];
  #lastTransaction: string;

  constructor(options: DatabaseOptions) {
    this.options = options;
    this.#tables = new Map(
      Array.from(options.schema.tables.keys(), (name) => [name, new Map<string, Row>()]),
    );
    this.#lastTransaction = options.history > 0 ? options.createUuid() : zeroUuid;
    this.#history = [{ id: this.#lastTransaction, changes: [] }];
  }

  get tables(): Tables {
    return this.#tables;
  }

  get lastTransaction(): string {
    return this.#lastTransaction;
  }

  /** All or nothing. A failure is in the results, in the place of its operation, or behind all of them. */
  transact(operations: readonly unknown[]): Outcome {
    const { schema, createUuid } = this.options;
    const draft = new Draft(schema, this.#tables);
    const execution = { draft, createUuid, names: new Names(createUuid) };
    const results: Json[] = [];
    try {
      for (const operation of operations) results.push(execute(operation, execution));
      return { results, commit: this.#commit(draft) };
    } catch (error) {
      if (error instanceof Blocked) return { blocked: error, results };
      if (!(error instanceof Failure)) throw error;
      const rest = operations.slice(results.length + 1).map(() => null);
      return { results: [...results, error.toJson(), ...rest] };
    }
  }

  /**
   * Takes the rows of the database as it was under another schema; columns that are new have the default of their type.
   * @throws Failure: they are against the rules of this schema
   */
  adopt(former: Database): void {
    const draft = new Draft(this.options.schema, this.#tables);
    for (const [name, { columns }] of this.options.schema.tables)
      for (const [uuid, old] of former.tables.get(name) ?? []) {
        const row: Record<string, Value> = { _uuid: uuid, _version: this.options.createUuid() };
        for (const [column, { type }] of columns)
          row[column] = Object.hasOwn(old, column) ? old[column] : defaultValue(type);
        draft.put(name, uuid, row);
      }
    this.#commit(draft);
    this.#lastTransaction = former.lastTransaction;
    this.#history = [{ id: former.lastTransaction, changes: [] }];
  }

  /** The changes after a transaction, those of each row as one; `undefined` when it is unknown. */
  changesSince(transaction: string): readonly RowChange[] | undefined {
    if (this.options.history === 0) return undefined;
    const at = this.#history.findIndex(({ id }) => id === transaction);
    return at < 0 ? undefined : mergeChanges(this.#history.slice(at + 1).flatMap(({ changes }) => changes));
  }

  #commit(draft: Draft): Commit {
    const counts = new ReferenceCheck(draft, this.#counts).run();
    checkRowCounts(draft, draft.changes());
    dropWeakReferences(draft);
    const changes = draft.changes().filter(isChange);
    updateKeys(this.#keys, draft, changes);
    for (const [key, count] of counts)
      if (count > 0) this.#counts.set(key, count);
      else this.#counts.delete(key);
    return this.#record(changes.map((change) => this.#store(change)));
  }

  #store(change: RowChange): RowChange {
    const rows = this.#tables.get(change.table)!;
    if (change.after === undefined) {
      rows.delete(change.uuid);
      return change;
    }
    const after = { ...change.after, _version: this.options.createUuid() };
    rows.set(change.uuid, after);
    return { ...change, after };
  }

  #record(changes: readonly RowChange[]): Commit {
    const { history, createUuid } = this.options;
    if (changes.length === 0 || history === 0) return { id: this.#lastTransaction, changes };
    const commit = { id: createUuid(), changes };
    this.#history = [...this.#history, commit].slice(-history);
    this.#lastTransaction = commit.id;
    return commit;
  }
}

/** False when the transaction has put back the same values, or has inserted a row that is gone again. */
function isChange({ before, after }: RowChange): boolean {
  if (before === undefined || after === undefined) return before !== after;
  const columns = Object.keys(after).filter((column) => column !== '_version');
  return columns.some((column) => !areSameValues(before[column], after[column]));
}

function mergeChanges(changes: readonly RowChange[]): readonly RowChange[] {
  const merged = new Map<string, RowChange>();
  for (const change of changes) {
    const key = `${change.table}/${change.uuid}`;
    const first = merged.get(key);
    merged.set(key, first === undefined ? change : { ...change, before: first.before });
  }
  return [...merged.values()].filter(isChange);
}
