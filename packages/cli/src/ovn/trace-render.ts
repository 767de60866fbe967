/** The way of a packet through the logical network for people. Pure. */
import { printable } from '../io.js';
import { renderTable } from '../render/table.js';
import { wrapText } from '../render/text.js';
import type { LogicalEnd } from './question.js';
import type { NetworkStyle } from './render.js';
import type { LogicalTraceView } from './trace-view.js';

export function renderLogicalTrace(view: LogicalTraceView, { width, paint }: NetworkStyle): string[] {
  const { from, to, protocol, port, datapaths, outcome, verdict } = view;
  const title = `${protocol.toUpperCase()} from ${describeEnd(from)} to ${describeEnd(to, port)}`;
  const rows = datapaths.flatMap(({ kind, name, decisions }) =>
    (decisions.length === 0 ? [undefined] : decisions).map((decision, index) => [
      ...[index === 0 ? printable(`${kind} ${name}`) : '', decision?.stage ?? ''],
      printable(decision?.text ?? 'nothing is decided'),
    ]),
  );
  const head = [
    'DATAPATH',
    { title: 'STAGE', importance: -Infinity },
    { title: 'DECISION', importance: Infinity },
  ];
  const colour = outcome === 'dropped' ? paint.red : paint.green;
  return [
    ...wrapText(printable(title), width, 2),
    '',
    ...renderTable({ head, rows }, paint, width),
    '',
    ...wrapText(printable(verdict), width, 2).map((line) => paint.bold(colour(line))),
  ];
}

function describeEnd({ address, pod, node }: LogicalEnd, port?: number): string {
  const ip = address.includes(':') && port !== undefined ? `[${address}]` : address;
  const place = port === undefined ? ip : `${ip}:${port}`;
  if (pod !== undefined) return `pod ${pod} (${place})`;
  return node === undefined ? place : `node ${node} (${place})`;
}
