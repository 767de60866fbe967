/** The end of the way of a packet, in words. Pure. */
import { describeDrop, describeOutput } from '@podwire/network-sdn/description';
import { readFields, type Trace, type TraceOutput, type TraceStep } from '@podwire/unixctl';
import type { BridgeDump } from '../flows/read.js';
import type { Question } from './question.js';

export interface Traced extends Question {
  readonly bridge: string;
  readonly inPort: number;
}

export interface End {
  readonly traced: Traced;
  readonly trace: Trace;
  readonly outputs: readonly TraceOutput[];
  readonly dump: BridgeDump;
  /** True if the tables are those of OpenShift SDN. */
  readonly isKnown: boolean;
}

/** A sentence for each output; one when there is none. */
export function describeEnds(end: End): string[] {
  if (end.outputs.length === 0) return [describeLoss(end)];
  return end.outputs.map(({ port, step, tunnelDestination }) => {
    const portName = nameOf(port, end.dump);
    if (!end.isKnown || typeof port !== 'number')
      return `sent out of port ${port}${portName === undefined ? '' : ` (${portName})`}`;
    return describeOutput({ ...wayOf(end), table: step.table, port, portName, tunnelDestination });
  });
}

function describeLoss(end: End): string {
  const failure = end.trace.passes.find((pass) => pass.failure !== undefined)?.failure;
  if (failure !== undefined) return `dropped: ovs-vswitchd has given up (${failure})`;
  const last = end.trace.passes.at(-1)?.steps.at(-1);
  if (last === undefined) return 'dropped';
  const isOwn = last.bridge === end.traced.bridge;
  const place = `table ${last.table}${isOwn ? '' : ` of bridge ${last.bridge}`}`;
  const reason = findReason(last, end.isKnown && isOwn, end);
  return `dropped in ${place}${reason === undefined ? '' : `: ${reason}`}`;
}

/** The note of ovs-vswitchd on the last action, or the lack of a flow where the last one takes every packet. */
function findReason(last: TraceStep, isKnown: boolean, end: End): string | undefined {
  const said = last.actions.at(-1)?.notes.at(-1)?.text;
  const isRest = (last.match ?? '') === '';
  return said ?? (isKnown && isRest ? describeDrop({ ...wayOf(end), table: last.table }) : undefined);
}

function wayOf({ traced, trace }: End) {
  const fields = readFields(trace.passes.at(-1)!.finalFlow);
  const { from, to, inPort } = traced;
  const [senderVnid, receiverVnid] = ['reg0', 'reg1'].map((name) => Number(fields.get(name) ?? 0));
  return { source: from, destination: to, inPort, senderVnid: senderVnid!, receiverVnid: receiverVnid! };
}

/** The name of a port. */
export const nameOf = (port: number | string, { ports }: BridgeDump): string | undefined =>
  ports.find((each) => each.port === port)?.name;
