/** Hints of rows that other programs have changed. */
import { isDeepStrictEqual } from 'node:util';
import { type ChangeFeed, type Hint, HintQueue } from '@podwire/engine';
import type { CacheEvent, Value } from '@podwire/ovsdb';
import {
  childColumnsOf,
  EXTERNAL_IDS,
  idOf,
  keyFor,
  memberColumnsOf,
  type TableDescription,
} from './description.js';
import { ownKeysOf } from './external-ids.js';
import { type Pairs, settingId, settingOfMark } from './settings.js';
import type { DatabaseLink } from './link.js';
import { type AnyRow, markOf, nameOf, pairsOf } from './view.js';

/** Hints that are kept between two reads. */
const MOST = 4_096;

export const watchRows = (link: DatabaseLink): ChangeFeed => ({
  place: link.description.database,
  open() {
    const queue = new HintQueue(MOST);
    const unsubscribe = link.subscribe((event) => {
      // A database that was started anew, and one that could not be reached at first: all of it may differ.
      if (event.cause === 'purged' || event.cause === 'initial') queue.lose();
      else queue.add(hintsOf(event, link));
    });
    return {
      read() {
        link.keepFollowing();
        return queue.read();
      },
      close: unsubscribe,
    };
  },
});

type Change = CacheEvent<AnyRow>['changes'][number];

function hintsOf({ changes }: CacheEvent, link: DatabaseLink): readonly Hint[] {
  const all = changes as readonly Change[];
  const rows = all
    .flatMap((change) => statesOf(change, link))
    .map((states) => hintOf(states, link))
    .filter((hint) => hint !== undefined);
  return [...rows, ...all.flatMap((change) => hintsOfSettings(change, link))];
}

/** By the key that has changed, and the setting whose mark has. */
function hintsOfSettings(change: Change, link: DatabaseLink): readonly Hint[] {
  const { database, settings } = link.description;
  if (change.table !== settings) return [];
  const pairsIn = (row: AnyRow | undefined): Pairs => (row === undefined ? new Map() : pairsOf(row));
  const after = pairsIn(change.type === 'delete' ? undefined : change.after);
  const before = pairsIn(change.type === 'insert' ? undefined : change.before);
  const keys = [...new Set([...after.keys(), ...before.keys()])];
  return keys
    .filter((key) => after.get(key) !== before.get(key))
    .map((key) => settingId(settingOfMark(key) ?? { key }))
    .filter((id) => !link.isUnderWay(id))
    .map((id) => ({ keys: [keyFor(database, id)] }));
}

/** One row, as it is now and as it was before. */
interface States {
  readonly table: string;
  readonly after: AnyRow | undefined;
  readonly before: AnyRow | undefined;
}

/** The rows that a change is about: of a set that has others those that came and went. */
function statesOf(change: Change, link: DatabaseLink): readonly States[] {
  const { table } = change;
  const { tables } = link.description;
  if (change.type === 'insert') return [{ table, after: change.after, before: undefined }];
  if (change.type === 'delete')
    return [{ table, after: undefined, before: change.before }, ...findLeft(change, link)];
  const { after, before } = change;
  const children = [...childColumnsOf(tables, table), ...memberColumnsOf(tables, table)];
  const columns = new Set(children.map(([, column]) => column));
  const isSet = (column: string): boolean => columns.has(column);
  const differing = Object.keys(after).filter((column) => isNews(tables[table]!, column, after, before));
  const moved = children.flatMap(([child, column]) =>
    differing.includes(column) ? findMoved(child, after[column], before[column], link) : [],
  );
  return differing.every(isSet) ? moved : [{ table, after, before }, ...moved];
}

/** The first report on a row is about one that has just come, and the program that made it waits for that. */
function isNews(description: TableDescription, column: string, after: AnyRow, before: AnyRow): boolean {
  const { reports = [], reportedPairs = [] } = description;
  if (column === EXTERNAL_IDS) return arePairsNews(pairsOf(after), pairsOf(before), reportedPairs);
  if (isDeepStrictEqual(after[column], before[column])) return false;
  return !reports.includes(column) || before[column] !== undefined;
}

/** Pairs of others are theirs: ovn-controller alone writes two for each port. */
function arePairsNews(after: Pairs, before: Pairs, reported: readonly string[]): boolean {
  const keys = [...ownKeysOf(after), ...ownKeysOf(before), ...reported.filter((key) => before.has(key))];
  return keys.some((key) => after.get(key) !== before.get(key));
}

const noRows: ReadonlySet<string> = new Set();

/** Members that have outlived their group. */
const findLeft = (
  { table, before }: Extract<Change, { readonly type: 'delete' }>,
  link: DatabaseLink,
): readonly States[] =>
  memberColumnsOf(link.description.tables, table).flatMap(([member, column]) =>
    findMoved(member, noRows, before[column], link),
  );

function findMoved(table: string, after: Value, before: Value, link: DatabaseLink): readonly States[] {
  const [now, then] = [after, before] as readonly ReadonlySet<string>[];
  const uuids = [
    ...[...now!].filter((uuid) => !then!.has(uuid)),
    ...[...then!].filter((uuid) => !now!.has(uuid)),
  ];
  const rows = uuids.map((uuid) => link.get(table, uuid)).filter((row) => row !== undefined);
  return rows.map((row) => ({ table, after: row, before: row }));
}

/** By the resources whose mark the row has or had, and by its name: it may be in the way of one of ours. */
function hintOf({ table, after, before }: States, link: DatabaseLink): Hint | undefined {
  const { database, tables } = link.description;
  const rows = [after, before].filter((row) => row !== undefined);
  const marks = rows.map(markOf).filter((mark) => mark !== undefined);
  if (marks.some((mark) => link.isUnderWay(mark))) return undefined;
  const names = rows.map((row) => nameOf(table, tables[table]!, row)).filter((name) => name !== undefined);
  const named = names.map((name) => idOf(table, name));
  const ids = [...new Set([...marks, ...named])];
  if (ids.length === 0) return undefined;
  const isMarked = after !== undefined && named.some((id) => id === markOf(after));
  return { keys: ids.map((id) => keyFor(database, id)), ...(isMarked ? { marked: true } : {}) };
}
