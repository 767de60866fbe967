import Table from 'cli-table3';
import type { Colors } from '../io.js';

export interface TableOptions {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Columns to align right, for numbers; by index. */
  readonly right?: readonly number[];
}

const noBorders = Object.fromEntries(
  [
    ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'],
    ...['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'],
  ].map((name) => [name, '']),
);

/** Columns without lines around them, for people and for `awk` alike. */
export function renderTable({ head, rows, right = [] }: TableOptions, paint: Colors): string[] {
  const table = new Table({
    head: head.map((title) => paint.dim(title)),
    chars: { ...noBorders, middle: '   ' },
    colAligns: head.map((_, column) => (right.includes(column) ? 'right' : 'left')),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows.map((row) => [...row]));
  return table.toString().split('\n').map(trimRight);
}

/** Padding may stand before the code that switches a colour off. */
function trimRight(line: string): string {
  return line.trimEnd();
}
