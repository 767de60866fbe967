/** The way of a packet for people. Pure. */
import { describeNode, describeVnid } from '@podwire/network-sdn/description';
import { type Colors, printable } from '../io.js';
import { describeFlow, describeOwner, wrapFlow } from '../flows/flow-text.js';
import { describeSystem, explainUnknown } from '../flows/view.js';
import { measureText, wrapText } from '../render/text.js';
import type { HopView, StepView } from './hop.js';
import type { End } from './names.js';
import type { ContinuedView, WalkView } from './view.js';

export interface PacketStyle {
  /** Cells of a line. */
  readonly width: number;
  readonly paint: Colors;
}

/** Switch by switch and table by table, with the flow that the packet has matched in each, and what becomes of it. */
export function renderPacket(view: WalkView, style: PacketStyle): string[] {
  const hops = view.hops.map((hop) => [
    ...describePacket(view, hop, style.paint).flatMap((line) => wrapText(line, style.width, 2)),
    '',
    ...renderHop(hop, style),
  ]);
  const next = view.continued.map((each) => renderContinued(each, style));
  return [...hops, ...next].flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

function describePacket({ from, to, protocol, port }: WalkView, hop: HopView, paint: Colors): string[] {
  const { node, bridge, sdn } = hop;
  const place = node === null ? bridge : `${printable(node)}, bridge ${bridge}`;
  const reason = explainUnknown(hop);
  return [
    paint.bold(sdn === null ? place : `${place}: ${describeSystem(sdn)}`),
    `${protocol.toUpperCase()} from ${describeEnd(from)}, ${describeOrigin(hop)}, to ${describeEnd(to, port)}`,
    ...(reason === undefined ? [] : [`tables are without their purposes: ${reason}`]),
  ];
}

function describeEnd({ address, pod }: End, port?: number): string {
  const place = port === undefined ? address : `${address}:${port}`;
  return pod === undefined ? place : `pod ${printable(pod)} (${place})`;
}

function describeOrigin({ inPort, tunnel }: HopView): string {
  if (tunnel === null) return `port ${inPort} of the bridge`;
  const { source, vnid, node, projects } = tunnel;
  const names = { node: () => node, projects: () => projects };
  return printable(
    `through the tunnel from ${describeNode(source, names)} with ${describeVnid(vnid, names)}`,
  );
}

function renderHop(hop: HopView, { width, paint }: PacketStyle): string[] {
  const wrap = (lines: readonly string[]): string[] => lines.flatMap((line) => wrapText(line, width, 2));
  const steps = hop.steps.flatMap((step, index) => [
    ...wrap(describePass(hop, index).map(paint.cyan)),
    ...wrap([paint.bold(describeHeading(hop, index))]),
    ...renderFound(step, { width, paint }),
  ]);
  const colour = hop.outputs.length === 0 ? paint.red : paint.green;
  return [
    ...steps,
    ...hop.others.map((line) => paint.dim(printable(line))),
    '',
    ...wrap(hop.ends.map((end) => paint.bold(colour(printable(end))))),
  ];
}

/** The command stays in one line, so that it can be copied. */
function renderContinued({ address, node, command }: ContinuedView, { width, paint }: PacketStyle): string[] {
  const names = { node: () => node };
  const text = `The way goes on at ${describeNode(address, names)}. Run there:`;
  return [...wrapText(printable(text), width, 2), `  ${paint.cyan(printable(command))}`];
}

/** Between two passes, how connection tracking is taken to have found the packet. */
function describePass({ steps, ctStates }: HopView, index: number): string[] {
  const { pass } = steps[index]!;
  if (pass === (steps[index - 1]?.pass ?? 0)) return [];
  const state = ctStates[pass - 1];
  if (state === null || state === undefined) return ['the packet comes back to the tables'];
  const meaning = state.split('|').includes('new') ? ', as the first packet of a connection' : '';
  return [`connection tracking gives the packet back${meaning} (ct_state=${state})`];
}

/** The purpose of a table stands where the packet comes to it first. */
function describeHeading({ steps, bridge: own }: HopView, index: number): string {
  const { table, purpose, bridge } = steps[index]!;
  const place = bridge === own ? `table ${table}` : `${printable(bridge)}, table ${table}`;
  const isFirst = steps.findIndex((step) => step.table === table && step.bridge === bridge) === index;
  return purpose === undefined || !isFirst ? place : `${place}: ${purpose}`;
}

/** The flow, and what ovs-vswitchd has said about its actions. */
function renderFound({ found, text, actions }: StepView, { width, paint }: PacketStyle): string[] {
  const notes = actions.flatMap((action) =>
    action.notes.filter(isNews).map((note) => `    ${paint.yellow(printable(note.text))}`),
  );
  if (found === undefined) return [`  ${printable(text)}`, ...notes];
  const owner = `  ${describeOwner(found, paint)}   `;
  const indent = ' '.repeat(measureText(owner));
  const lines = wrapFlow(describeFlow(found), width - indent.length);
  return [...lines.map((line, index) => (index === 0 ? owner : indent) + line), ...notes];
}

/** Details repeat what flow and end say. */
const isNews = ({ level }: { readonly level: string }): boolean => level !== 'detail';
