/**
 * Tables for people and for `awk` alike: columns without lines around them, each row one line. On a terminal columns are shortened or
 * left out by importance; a pipe has no width.
 */
import type { Colors } from '../io.js';
import { type Layout, layOutColumns, type MeasuredColumn } from './layout.js';
import { type Cut, measureText, shortenText } from './text.js';

export interface Column {
  readonly title: string;
  /** For numbers, which are never shortened. */
  readonly right?: boolean;
  /**
   * Where its texts may be shortened. `name`: in the middle, when nothing else helps. By default `name` for the first
   * column, `never` for numbers, and `end` for others.
   */
  readonly cut?: Cut | 'name' | 'never';
  /** Cells that shortened texts keep, before columns are left out. */
  readonly least?: number;
  /** The smallest is left out first. By default columns go from the right; `Infinity` stays, as the first column does. */
  readonly importance?: number;
}

export interface TableOptions {
  readonly head: readonly (string | Column)[];
  readonly rows: readonly (readonly string[])[];
  /** Columns to align right, for numbers; by index. */
  readonly right?: readonly number[];
}

/** Text of which less says nothing. */
const leastText = 12;
const leastName = 12;

/** @param width cells of a line, see `widthOf` */
export function renderTable(table: TableOptions, paint: Colors, width = Infinity): string[] {
  const columns = completeColumns(table);
  const rows = table.rows.map((row) =>
    columns.map((_, index) => (row[index] ?? '').replaceAll(/\s*[\n\t]\s*/g, ' ')),
  );
  const measured = columns.map((column, index) =>
    measureColumn(
      column,
      rows.map((row) => row[index]!),
    ),
  );
  const layout = layOutColumns(measured, width);
  const shown = [...layout.widths].map(([index, cells]) =>
    renderColumn(
      columns[index]!,
      rows.map((row) => row[index]!),
      cells,
      paint,
    ),
  );
  const lines = ['', ...rows].map((_, line) =>
    shown
      .map((cells) => cells[line]!)
      .join(' '.repeat(layout.gap))
      .trimEnd(),
  );
  return [...lines, ...describeHidden(columns, measured, layout, paint, width)];
}

type Complete = Required<Column>;

function completeColumns({ head, right = [] }: TableOptions): Complete[] {
  return head.map((given, index): Complete => {
    const column = typeof given === 'string' ? { title: given } : given;
    const isNumber = column.right ?? right.includes(index);
    const cut = index === 0 ? 'name' : isNumber ? 'never' : 'end';
    const importance = index === 0 ? Infinity : -index;
    return { right: isNumber, cut, importance, least: leastText, ...column };
  });
}

const saysNothing = (text: string): boolean => text === '' || text === '-';

function measureColumn(
  { title, cut, least, importance }: Complete,
  texts: readonly string[],
): MeasuredColumn {
  const titleWidth = measureText(title);
  const natural = Math.max(titleWidth, ...texts.map(measureText));
  const shortest = (cells: number): number => Math.min(natural, Math.max(titleWidth, cells));
  const isEmpty = texts.length > 0 && texts.every(saysNothing);
  return {
    natural,
    least: cut === 'never' || cut === 'name' ? natural : shortest(least),
    tightest: cut === 'never' ? natural : shortest(Math.min(least, leastName)),
    // An empty column goes before everything else.
    importance: isEmpty && importance !== Infinity ? -Infinity : importance,
  };
}

/** The title and the cells below it, all of one width. */
function renderColumn(
  { title, cut, right }: Complete,
  texts: readonly string[],
  width: number,
  paint: Colors,
): string[] {
  const how = cut === 'name' || cut === 'never' ? 'middle' : cut;
  const cells = cut === 'never' ? texts : texts.map((text) => shortenText(text, width, how));
  const all = [paint.dim(title), ...cells];
  const widest = Math.max(...all.map(measureText));
  return all.map((text) => {
    const padding = ' '.repeat(widest - measureText(text));
    return right ? padding + text : text + padding;
  });
}

/** Columns that had something to say. */
function describeHidden(
  columns: readonly Complete[],
  measured: readonly MeasuredColumn[],
  { widths }: Layout,
  paint: Colors,
  width: number,
): string[] {
  const hidden = columns
    .filter((_, index) => !widths.has(index) && measured[index]!.importance !== -Infinity)
    .map(({ title }) => title);
  if (hidden.length === 0) return [];
  return [paint.dim(shortenText(`-o wide also shows ${hidden.join(', ')}`, width, 'end'))];
}
