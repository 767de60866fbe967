import type { AnyResource, Kind } from '@podwire/engine';
import { type DatabaseDescription, idOf, keyFor, type WantedRows } from './description.js';
import { compareRows, type Found } from './found.js';
import { referencesOf } from './values.js';

/** A kind whose resources are rows: the rest of it follows from {@link rows}. */
export interface RowKind<R extends AnyResource = AnyResource> extends Kind<R, Found> {
  rows(resource: R): WantedRows;
}

export interface RowKindOptions<R extends AnyResource> extends Pick<
  Kind<R, Found>,
  'kind' | 'backend' | 'check' | 'describe'
> {
  readonly database: DatabaseDescription;
  readonly rows: (resource: R) => WantedRows;
  /**
   * Keys of what the program behind the database opens for the resource, and does not open again while the rows are there. It comes
   * before, and where it is made anew the rows are, too.
   */
  readonly opens?: (resource: R) => readonly string[];
}

/** All rows of a backend travel in one transaction. */
const BATCH = 'rows';

export function defineRowKind<R extends AnyResource>({
  database: { database, tables },
  rows,
  opens = () => [],
  ...given
}: RowKindOptions<R>): RowKind<R> {
  const key = (resource: R): string => {
    const [{ table, name }] = rows(resource);
    return keyFor(database, idOf(table, name));
  };
  return {
    ...given,
    rows,
    batch: BATCH,
    place: () => database,
    key,
    inPlace: true,
    transactional: true,
    independent: true,
    after: (resource) => {
      const needed = neededIds(rows(resource), tables);
      return [...needed.map((id) => keyFor(database, id)), ...opens(resource)];
    },
    renewedWith: opens,
    compare: (resource, found) => compareRows(tables, rows(resource), found),
  };
}

type Common = 'database' | 'backend';

/** {@link defineRowKind}, for the kinds of one database. */
export const defineRowKindsOf =
  ({ database, backend }: Pick<RowKindOptions<AnyResource>, Common>) =>
  <R extends AnyResource>(options: Omit<RowKindOptions<R>, Common>): RowKind<R> =>
    defineRowKind<R>({ ...options, database, backend });

/** Rows that the resource refers to, hangs in or is a member of, but for its own parts. */
function neededIds(rows: WantedRows, tables: DatabaseDescription['tables']): readonly string[] {
  const own = new Set(rows.map(({ table, name }) => idOf(table, name)));
  const needed = rows.flatMap(({ table, columns, parent, groups = [] }) => [
    ...Object.values(columns).flatMap((value) => referencesOf(value).map(([of, name]) => idOf(of, name))),
    ...(parent === undefined ? [] : [idOf(parent.table, parent.name)]),
    ...groups.map((group) => idOf(tables[table]!.groups!.table, group)),
  ]);
  return [...new Set(needed)].filter((id) => !own.has(id));
}
