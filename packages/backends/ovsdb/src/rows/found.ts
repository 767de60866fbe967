/** The rows of a resource as they are, and how they differ from those that it asks for. */
import { isDeepStrictEqual } from 'node:util';
import type { Difference } from '@podwire/engine';
import { idOf, parentOf, type RowName, type Tables, type WantedRow, type WantedRows } from './description.js';
import { differenceOfPairs, ownPairs } from './external-ids.js';
import { foundValue, wantedValue } from './values.js';
import { type AnyRow, markOf, pairsOf, type Parent, type View } from './view.js';

/** One row as it is, with names in the place of uuids. */
export interface FoundRow {
  readonly mark: string | undefined;
  readonly columns: { readonly [column: string]: unknown };
  readonly pairs: ReadonlyMap<string, string>;
  /** The rows that it hangs in. */
  readonly parents: readonly RowName[];
  /** Names of the groups of ours that have it. */
  readonly groups: readonly string[];
}

/** In the order of the wanted rows. */
export type Found = readonly (FoundRow | undefined)[];

export function findRows(view: View, rows: WantedRows): Found {
  const id = idOf(rows[0].table, rows[0].name);
  return rows.map((wanted) => {
    const row = view.find(wanted.table, wanted.name, id);
    return row === undefined ? undefined : describeFound(view, wanted, row);
  });
}

export function describeFound(view: View, { table, columns }: WantedRow, row: AnyRow): FoundRow {
  const nameBehind = (of: string, uuid: string): string => view.nameBehind(of, uuid);
  return {
    mark: markOf(row),
    columns: Object.fromEntries(
      Object.entries(columns).map(([column, value]) => [column, foundValue(value, row[column], nameBehind)]),
    ),
    pairs: pairsOf(row),
    parents: view.findParents(table, row._uuid).map((place) => parentName(view, place)),
    groups: groupsOf(view, table, row),
  };
}

const parentName = (view: View, { table, uuid, single }: Parent): RowName => ({
  table,
  name: single === true ? '' : view.nameBehind(table, uuid),
});

function groupsOf(view: View, table: string, row: AnyRow): readonly string[] {
  const { groups } = view.tables[table]!;
  if (groups === undefined) return [];
  return view
    .findHolders(groups.table, groups.column, row._uuid)
    .filter((holder) => markOf(holder) !== undefined)
    .map(({ _uuid }) => view.nameBehind(groups.table, _uuid))
    .sort();
}

/** Columns whose value is another one. */
export const differingColumns = ({ columns }: WantedRow, found: FoundRow): readonly string[] =>
  Object.keys(columns).filter(
    (column) => !isDeepStrictEqual(wantedValue(columns[column]!), found.columns[column]),
  );

/** Pure. */
export function compareRows(tables: Tables, rows: WantedRows, found: Found): Difference | undefined {
  const id = idOf(rows[0].table, rows[0].name);
  const words = (row: RowName): string => wordsFor(tables, row);
  if (found[0] === undefined) return { missing: `there is no ${words(rows[0])}` };
  const foreign = rows.find((_, index) => found[index] !== undefined && found[index].mark !== id);
  if (foreign !== undefined) return { foreign: `${words(foreign)} is not ours`, code: 'ROW_TAKEN' };
  for (const [index, wanted] of rows.entries()) {
    const difference = compareRow(tables, wanted, id, found[index]);
    if (difference !== undefined) return `${words(wanted)}: ${difference}`;
  }
  return undefined;
}

const wordsFor = (tables: Tables, { table, name }: RowName): string => `${tables[table]!.word} ${name}`;

function compareRow(
  tables: Tables,
  wanted: WantedRow,
  id: string,
  found: FoundRow | undefined,
): string | undefined {
  if (found === undefined) return 'it is not there';
  const [column] = differingColumns(wanted, found);
  if (column !== undefined) return `${column} is ${JSON.stringify(found.columns[column])}`;
  const { remove, put } = differenceOfPairs(ownPairs(id, wanted.externalIds), found.pairs);
  const [key] = [...put.keys(), ...remove];
  if (key !== undefined) return `external_ids:${key} is ${JSON.stringify(found.pairs.get(key) ?? null)}`;
  const parent = parentOf(tables, wanted);
  if (parent !== undefined && !isDeepStrictEqual(found.parents, [parent]))
    return `it is in ${found.parents.map((one) => wordsFor(tables, one)).join(', ')}`;
  const isMember = isDeepStrictEqual(found.groups, [...new Set(wanted.groups)].sort());
  return isMember ? undefined : `its groups are [${found.groups.join(', ')}]`;
}
