/** Which columns of a table a terminal has room for, and how wide each is. Pure. */

export interface MeasuredColumn {
  /** Cells of the longest text, the title among them. */
  readonly natural: number;
  /** Cells to which it may be shortened as long as other columns can go instead. */
  readonly least: number;
  /** Cells to which it may be shortened before a row would break. */
  readonly tightest: number;
  /** The smallest goes first; what is infinite goes only before a row would break. */
  readonly importance: number;
}

export interface Layout {
  /** Spaces between two columns. */
  readonly gap: number;
  /** By index of the column, in order. */
  readonly widths: ReadonlyMap<number, number>;
}

const wideGap = 3;
const narrowGap = 2;

/** Columns are shortened to their least, then left out, the least important first; then the others are shortened further. */
export function layOutColumns(columns: readonly MeasuredColumn[], room: number): Layout {
  const all = columns.map((_, index) => index);
  const natural = fit(columns, all, room, wideGap, 'natural');
  if (natural !== undefined) return natural;
  let shown = all;
  let layout = fit(columns, shown, room, narrowGap, 'least');
  while (layout === undefined) {
    const next = withoutLeastImportant(columns, shown);
    if (next === undefined) return squeeze(columns, shown, room);
    shown = next;
    layout = fit(columns, shown, room, narrowGap, 'least');
  }
  return putBack(columns, all, shown, room) ?? layout;
}

function withoutLeastImportant(
  columns: readonly MeasuredColumn[],
  shown: readonly number[],
): number[] | undefined {
  const lowest = Math.min(...shown.map((index) => columns[index]!.importance));
  if (lowest === Infinity) return undefined;
  const victim = shown.findLast((index) => columns[index]!.importance === lowest);
  return shown.filter((index) => index !== victim);
}

/** A broad column that had to go may have left room for small ones that went before it. */
function putBack(
  columns: readonly MeasuredColumn[],
  all: readonly number[],
  shown: readonly number[],
  room: number,
): Layout | undefined {
  let kept = shown;
  const gone = all.filter((index) => !shown.includes(index));
  for (const index of byImportance(columns, gone)) {
    const more = [...kept, index].sort((a, b) => a - b);
    if (fit(columns, more, room, narrowGap, 'least') !== undefined) kept = more;
  }
  return fit(columns, kept, room, narrowGap, 'least');
}

/** Everything that is left must stay: names are shortened too; the last columns go before a row breaks. */
function squeeze(columns: readonly MeasuredColumn[], shown: readonly number[], room: number): Layout {
  for (let count = shown.length; count > 0; count--) {
    const layout = fit(columns, shown.slice(0, count), room, narrowGap, 'tightest');
    if (layout !== undefined) return layout;
  }
  const [first = 0] = shown;
  return { gap: narrowGap, widths: new Map([[first, columns[first]?.tightest ?? 0]]) };
}

/** The smallest widths that are allowed, and what is left over to the important columns. Undefined: they do not fit. */
function fit(
  columns: readonly MeasuredColumn[],
  shown: readonly number[],
  room: number,
  gap: number,
  smallest: 'natural' | 'least' | 'tightest',
): Layout | undefined {
  const widths = new Map(shown.map((index) => [index, columns[index]![smallest]]));
  let left = room - gap * (shown.length - 1) - [...widths.values()].reduce((sum, width) => sum + width, 0);
  if (left < 0) return undefined;
  for (const index of byImportance(columns, shown)) {
    const width = widths.get(index)!;
    const more = Math.min(left, columns[index]!.natural - width);
    widths.set(index, width + more);
    left -= more;
  }
  return { gap, widths };
}

/** The most important first, from the left among equals. */
function byImportance(columns: readonly MeasuredColumn[], shown: readonly number[]): number[] {
  return shown.toSorted((a, b) => {
    const [left, right] = [columns[a]!.importance, columns[b]!.importance];
    return left === right ? a - b : right > left ? 1 : -1;
  });
}
