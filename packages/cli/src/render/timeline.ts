/** Work on a line of time, in text: what it was, how long it took, and a bar. */
import type { Colors } from '../io.js';
import { renderBar, type Span } from './bars.js';
import { formatMilliseconds } from './times.js';

export interface TimelineRow extends Span {
  readonly label: string;
  /** Levels below the topmost. */
  readonly depth: number;
  readonly failed?: boolean;
}

const leastBar = 16;
const mostBar = 60;
const mostLabel = 58;
const leastLabel = 16;
/** Between the columns, and one that a terminal may need for itself. */
const gaps = 5;

/** @param width characters for a whole line */
export function renderTimeline(
  rows: readonly TimelineRow[],
  total: number,
  width: number,
  paint: Colors,
): string[] {
  const times = rows.map(({ duration }) => formatMilliseconds(duration));
  const timeWidth = Math.max(...times.map((time) => time.length), 0);
  const labelRoom = Math.min(mostLabel, Math.max(leastLabel, width - timeWidth - leastBar - gaps));
  const labels = rows.map(({ label, depth }) => shorten('  '.repeat(depth) + label, labelRoom));
  const labelWidth = Math.max(...labels.map((label) => label.length), 0);
  const room = Math.min(mostBar, Math.max(leastBar, width - labelWidth - timeWidth - gaps));
  return rows.map((row, index) => {
    const bar = renderBar(row, total, room);
    const label = labels[index]!.padEnd(labelWidth);
    const colored = row.failed === true ? paint.red(bar) : row.depth === 0 ? paint.cyan(bar) : paint.dim(bar);
    return `${row.failed === true ? paint.red(label) : label}  ${times[index]!.padStart(timeWidth)}  ${colored}`.trimEnd();
  });
}

function shorten(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
