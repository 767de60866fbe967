/** The end of the way of a packet through a bridge, in words. Pure. */
import { describeDrop, describeOutput, type FlowNames } from '@podwire/network-sdn/description';
import { readFields, type Trace, type TraceOutput, type TraceStep } from '@podwire/unixctl';
import type { BridgeDump } from '../flows/read.js';
import type { Question } from './question.js';

/** A packet at a bridge. */
export interface Traced extends Question {
  readonly bridge: string;
  readonly inPort: number;
  /** The name of the node whose bridge it is, where that is known. */
  readonly node?: string;
}

export interface Passage {
  readonly traced: Traced;
  readonly trace: Trace;
  readonly outputs: readonly TraceOutput[];
  readonly dump: BridgeDump;
  /** True if the tables are those of OpenShift SDN. */
  readonly isKnown: boolean;
  readonly names: FlowNames;
}

/** A sentence for each output; one when there is none. */
export function describeEnds(passage: Passage): string[] {
  const { traced, outputs, dump, isKnown } = passage;
  if (outputs.length === 0) return [describeLoss(passage)];
  return outputs.map(({ port, step, tunnelDestination, tunnelId }) => {
    const portName = nameOf(port, dump);
    if (!isKnown || typeof port !== 'number')
      return `sent out of port ${port}${portName === undefined ? '' : ` (${portName})`}`;
    const way = { ...wayOf(passage), table: step.table };
    return describeOutput({ ...way, port, portName, tunnelDestination, tunnelId, nodeName: traced.node });
  });
}

function describeLoss(passage: Passage): string {
  const { traced, trace, isKnown } = passage;
  const where = traced.node === undefined ? '' : ` on ${traced.node}`;
  const failure = trace.passes.find((pass) => pass.failure !== undefined)?.failure;
  if (failure !== undefined) return `dropped${where}: ovs-vswitchd has given up (${failure})`;
  const last = trace.passes.at(-1)?.steps.at(-1);
  if (last === undefined) return `dropped${where}`;
  const isOwn = last.bridge === traced.bridge;
  const place = `table ${last.table}${isOwn ? '' : ` of bridge ${last.bridge}`}`;
  const reason = findReason(last, isKnown && isOwn, passage);
  return `dropped${where} in ${place}${reason === undefined ? '' : `: ${reason}`}`;
}

/** The note of ovs-vswitchd on the last action, or the lack of a flow where the last one takes every packet. */
function findReason(last: TraceStep, isKnown: boolean, passage: Passage): string | undefined {
  const said = last.actions.at(-1)?.notes.at(-1)?.text;
  const isRest = (last.match ?? '') === '';
  // In the userspace datapath; the switch drops packets until the node behind the tunnel has answered.
  if (said?.startsWith('neighbor cache miss')) return `${said}: run it again when the answer has come`;
  return said ?? (isKnown && isRest ? describeDrop({ ...wayOf(passage), table: last.table }) : undefined);
}

function wayOf({ traced, trace, names }: Passage) {
  const fields = readFields(trace.passes.at(-1)!.finalFlow);
  const { from, to, inPort } = traced;
  const [senderVnid, receiverVnid] = ['reg0', 'reg1'].map((name) => Number(fields.get(name) ?? 0));
  return {
    ...{ source: from.address, destination: to.address, inPort, names },
    ...{ senderVnid: senderVnid!, receiverVnid: receiverVnid! },
  };
}

/** The name of a port. */
export const nameOf = (port: number | string, { ports }: BridgeDump): string | undefined =>
  ports.find((each) => each.port === port)?.name;
