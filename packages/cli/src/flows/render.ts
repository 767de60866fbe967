/** The flows of a bridge for people. Pure. */
import { type Flow, formatFlow } from '@podwire/openflow';
import { type Colors, printable } from '../io.js';
import { formatPlural } from '../render/counts.js';
import { renderTable, type TableOptions } from '../render/table.js';
import { measureText, wrapText } from '../render/text.js';
import { formatAge } from '../render/times.js';
import type { Subject } from './subject.js';
import { type BridgeView, explainUnknown, type FlowView, type TableView } from './view.js';

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

/** In one line, or match and actions each on as many as they take. */
function wrapFlow(text: string, room: number): string[] {
  if (text.length <= room) return [text];
  return text.split(ACTIONS).flatMap((part, index) => {
    const lines = [index === 0 ? '' : ACTIONS.trimStart()];
    for (const word of part.split(/(?<=,)/)) {
      const line = lines.at(-1)!;
      if (line !== '' && line.length + word.length > room) lines.push(word);
      else lines[lines.length - 1] = line + word;
    }
    return lines;
  });
}

function describeBridge(view: BridgeView, subject: Subject | undefined): string[] {
  const { bridge, sdn, total, tables } = view;
  const system = sdn === null ? '' : `OpenShift SDN, ${sdn.mode}, rule version ${sdn.version}; `;
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
const ACTIONS = ' actions=';

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

function describeOwner({ owner, mark = 0 }: FlowView, paint: Colors): string {
  if (owner === 'others') return owner;
  return paint.green(mark === 0 ? owner : `${owner} 0x${mark.toString(16).padStart(8, '0')}`);
}

/** In the words of ovs-ofctl(8), without what stands beside it: table, and a cookie of ours. */
function describeFlow({ flow, owner }: FlowView): string {
  const { cookie, ...others } = flow;
  const text = formatKnown(owner === 'others' && cookie !== undefined ? { ...others, cookie } : others);
  return text.replace(/table=\d+,/, '').replace(',actions=', ACTIONS);
}

/** Actions that the library does not know have no text. */
function formatKnown(flow: Flow): string {
  try {
    return formatFlow(flow);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const { actions: _, write: __, ...others } = flow;
    return formatFlow(others).replace(/,actions=.*/s, ',actions=(unknown: -o json has the bytes)');
  }
}
