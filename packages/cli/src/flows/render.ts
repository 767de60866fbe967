/** The flows of a bridge for people. Pure. */
import { type Colors, printable } from '../io.js';
import { formatPlural } from '../render/counts.js';
import { renderTable, type TableOptions } from '../render/table.js';
import { measureText, wrapText } from '../render/text.js';
import { formatAge } from '../render/times.js';
import { describeFlow, describeOwner, wrapFlow } from './flow-text.js';
import type { Subject } from './subject.js';
import { type BridgeView, describeSystem, explainUnknown, type TableView } from './view.js';

export interface FlowsStyle {
  /** Cells of a line. */
  readonly width: number;
  /** Ages of flows, and packets of tables. */
  readonly stats: boolean;
  readonly paint: Colors;
}

/** Flows under the heading of their table. A long one continues below its beginning: half a flow says nothing. */
export function renderFlows(view: BridgeView, subject: Subject | undefined, style: FlowsStyle): string[] {
  const { paint, width } = style;
  const introduction = describeBridge(view, subject).flatMap((text) => wrapText(text, width, 2));
  if (view.tables.length === 0) return introduction;
  const room = width - findIndent(view, style);
  const [title = '', ...rows] = renderTable(flowTable(view, style, room), paint);
  const lines = [...introduction, '', title];
  for (const table of view.tables) {
    const count = table.flows.flatMap((flow) => wrapFlow(describeFlow(flow), room)).length;
    lines.push('', ...wrapText(paint.bold(describeHeading(table, style)), width, 2));
    lines.push(...rows.splice(0, count));
  }
  return lines;
}

/** Cells in front of the flows. */
function findIndent(view: BridgeView, style: FlowsStyle): number {
  const [title = ''] = renderTable(flowTable(view, style, Infinity), style.paint);
  return measureText(title.slice(0, title.indexOf(FLOW)));
}

function describeBridge(view: BridgeView, subject: Subject | undefined): string[] {
  const { bridge, sdn, total, tables } = view;
  const system = sdn === null ? '' : `${describeSystem(sdn)}; `;
  const shown = tables.reduce((sum, { flows }) => sum + flows.length, 0);
  const count = shown === total ? formatPlural(total, 'flow') : `${shown} of ${formatPlural(total, 'flow')}`;
  const reason = explainUnknown(view);
  return [
    `${bridge}: ${system}${count}`,
    ...(subject === undefined ? [] : [describeSubject(subject)]),
    ...(reason === undefined ? [] : [`tables are without their purposes: ${reason}`]),
  ];
}

const describeSubject = ({ name, addresses, ports }: Subject): string =>
  `${printable(name)}: ${[addresses.join(' '), ...ports.map((port) => `port ${port}`)].join(', ')}`;

function describeHeading({ table, purpose, lookups, matches }: TableView, { stats }: FlowsStyle): string {
  const counted = stats && lookups !== undefined ? ` (${lookups} lookups, ${matches} matched)` : '';
  return `table ${table}${purpose === undefined ? '' : `: ${purpose}`}${counted}`;
}

const FLOW = 'FLOW';

/** @param room cells of a line of a flow */
function flowTable({ tables }: BridgeView, { stats, paint }: FlowsStyle, room: number): TableOptions {
  const head = ['PACKETS', 'BYTES', ...(stats ? ['AGE'] : []), 'OWNER', FLOW];
  const rows = tables.flatMap(({ flows }) =>
    flows.flatMap((each) => {
      const columns = [
        ...[each.packets, each.bytes].map((count) => (count === undefined ? '-' : `${count}`)),
        ...(stats ? [formatAge(each.duration * 1_000)] : []),
        describeOwner(each, paint),
      ];
      const lines = wrapFlow(describeFlow(each), room);
      return lines.map((line, index) => [...(index === 0 ? columns : columns.map(() => '')), line]);
    }),
  );
  return { head, rows, right: stats ? [0, 1, 2] : [0, 1] };
}
