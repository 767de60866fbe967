/** The way of a packet for people. Pure. */
import { type Colors, printable } from '../io.js';
import { describeFlow, describeOwner, wrapFlow } from '../flows/flow-text.js';
import { describeSystem, explainUnknown } from '../flows/view.js';
import { measureText, wrapText } from '../render/text.js';
import type { PacketView, StepView } from './view.js';

export interface PacketStyle {
  /** Cells of a line. */
  readonly width: number;
  readonly paint: Colors;
}

/** Table by table, with the flow that the packet has matched in each, and its end as the last lines. */
export function renderPacket(view: PacketView, { width, paint }: PacketStyle): string[] {
  const wrap = (lines: readonly string[]): string[] => lines.flatMap((line) => wrapText(line, width, 2));
  const steps = view.steps.flatMap((step, index) => [
    ...wrap(describePass(view, index).map(paint.cyan)),
    ...wrap([paint.bold(describeHeading(view, index))]),
    ...renderFound(step, { width, paint }),
  ]);
  const colour = view.outputs.length === 0 ? paint.red : paint.green;
  return [
    ...wrap(describePacket(view)),
    '',
    ...steps,
    ...view.others.map((line) => paint.dim(printable(line))),
    '',
    ...wrap(view.ends.map((end) => paint.bold(colour(printable(end))))),
  ];
}

function describePacket(view: PacketView): string[] {
  const { bridge, sdn, from, to, protocol, port, inPort } = view;
  const system = sdn === null ? bridge : `${bridge}: ${describeSystem(sdn)}`;
  const target = port === undefined ? to : `${to}:${port}`;
  const reason = explainUnknown(view);
  return [
    system,
    `${protocol.toUpperCase()} from ${from}, port ${inPort} of the bridge, to ${target}`,
    ...(reason === undefined ? [] : [`tables are without their purposes: ${reason}`]),
  ];
}

/** Between two passes, how connection tracking is taken to have found the packet. */
function describePass({ steps, ctStates }: PacketView, index: number): string[] {
  const { pass } = steps[index]!;
  if (pass === (steps[index - 1]?.pass ?? 0)) return [];
  const state = ctStates[pass - 1];
  if (state === null || state === undefined) return ['the packet comes back to the tables'];
  const meaning = state.split('|').includes('new') ? ', as the first packet of a connection' : '';
  return [`connection tracking gives the packet back${meaning} (ct_state=${state})`];
}

/** The purpose of a table stands where the packet comes to it first. */
function describeHeading({ steps, bridge: own }: PacketView, index: number): string {
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
