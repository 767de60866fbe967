import type { Row } from '../decode.js';
import type { DatabaseSchema } from '../schema.js';

export type Rows = ReadonlyMap<string, Row>;
export type Tables = ReadonlyMap<string, Rows>;

/** A row before and after a transaction; `undefined` where it is not there. */
export interface RowChange {
  readonly table: string;
  readonly uuid: string;
  readonly before: Row | undefined;
  readonly after: Row | undefined;
}

/** The content that a transaction works on: the committed rows, and over them the rows it has changed. */
export class Draft {
  readonly schema: DatabaseSchema;
  readonly #committed: Tables;
  readonly #changed = new Map<string, Map<string, Row | undefined>>();

  constructor(schema: DatabaseSchema, committed: Tables) {
    this.schema = schema;
    this.#committed = committed;
  }

  get(table: string, uuid: string): Row | undefined {
    const changed = this.#changed.get(table);
    return changed?.has(uuid) === true ? changed.get(uuid) : this.#committed.get(table)?.get(uuid);
  }

  *rows(table: string): Generator<Row> {
    const changed = this.#changed.get(table);
    for (const [uuid, row] of this.#committed.get(table) ?? []) if (changed?.has(uuid) !== true) yield row;
    for (const row of changed?.values() ?? []) if (row !== undefined) yield row;
  }

  /** False for a uuid that a new row may have: also a committed row that the transaction has deleted keeps its own. */
  isTaken(table: string, uuid: string): boolean {
    return this.#committed.get(table)?.has(uuid) === true || this.get(table, uuid) !== undefined;
  }

  put(table: string, uuid: string, row: Row | undefined): void {
    const changed = this.#changed.get(table) ?? new Map<string, Row | undefined>();
    this.#changed.set(table, changed.set(uuid, row));
  }

  /** All rows that the transaction has touched, also those that are as they were. */
  changes(): readonly RowChange[] {
    return [...this.#changed].flatMap(([table, rows]) =>
      Array.from(rows, ([uuid, after]) => ({
        table,
        uuid,
        before: this.#committed.get(table)?.get(uuid),
        after,
      })),
    );
  }
}
