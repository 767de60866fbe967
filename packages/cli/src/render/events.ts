/** Events of pods for people. */
import type { PodEvent, PodEventRecord } from '@podwire/podlet';
import { type Colors, printable } from '../io.js';
import { renderTable } from './table.js';
import { formatAge } from './times.js';

interface EventTableOptions {
  readonly now: number;
  /** Cells of a line. */
  readonly width: number;
}

const paintType = ({ type }: PodEvent, paint: Colors): string =>
  type === 'Warning' ? paint.yellow(type) : type;

/** With the pod of each. */
export function renderEventTable(
  events: readonly PodEventRecord[],
  { now, width }: EventTableOptions,
  paint: Colors,
): string[] {
  const head = [
    { title: 'LAST SEEN', cut: 'never', importance: 5 } as const,
    { title: 'TYPE', cut: 'never', importance: 3 } as const,
    { title: 'REASON', importance: 7 },
    { title: 'POD', cut: 'name', importance: 8 } as const,
    { title: 'COUNT', right: true, importance: 2 },
    { title: 'MESSAGE', least: 20, importance: 9 },
  ];
  const rows = events.map((event) => [
    formatAge(now - event.lastAt),
    paintType(event, paint),
    printable(event.reason),
    printable(`${event.namespace}/${event.name}`),
    String(event.count),
    printable(event.message),
  ]);
  return renderTable({ head, rows }, paint, width);
}

/** One line as it happens: what has no end has no columns to align. */
export function renderEventLine(event: PodEventRecord, paint: Colors): string {
  const { namespace, name, reason, message, count, lastAt } = event;
  const time = new Date(lastAt).toISOString().slice(11, 19);
  const times = count === 1 ? '' : paint.dim(` (${count} times)`);
  const about = `${printable(reason)} pod/${printable(`${namespace}/${name}`)}`;
  return `${paint.dim(time)} ${paintType(event, paint)} ${about}: ${printable(message)}${times}`;
}
