import type { Trace, TraceAction, TracePass, TraceStep } from './types.js';

export interface TraceOutput {
  /** The number of a port of the bridge, or the name of a reserved one: `LOCAL`, `NORMAL`. */
  readonly port: number | string;
  /** The flow whose action it is. */
  readonly step: TraceStep;
  /** Where it leads if a tunnel is behind the port: the latest `tun_dst` that an action has set. */
  readonly tunnelDestination?: string;
}

/** Where the packet has left the bridge, in the order of the lookups; none when it was dropped. */
export function findOutputs({ passes }: Trace): TraceOutput[] {
  const outputs: TraceOutput[] = [];
  let tunnel: Pick<TraceOutput, 'tunnelDestination'> = {};
  for (const { step, action } of passes.filter(isCarriedOut).flatMap(listActions)) {
    const tunnelDestination = /^set_field:(.*)->tun_dst$/.exec(action.text)?.[1];
    if (tunnelDestination !== undefined) tunnel = { tunnelDestination };
    const port = readPort(action);
    if (port !== undefined) outputs.push({ port, step, ...tunnel });
  }
  return outputs;
}

/** Nothing is when a translation has failed, or the other end of a tunnel is not known yet. */
const isCarriedOut = ({ datapathActions }: TracePass): boolean => datapathActions !== 'drop';

const listActions = ({ steps }: TracePass) =>
  steps.flatMap((step) => step.actions.map((action) => ({ step, action })));

/** A warning or an error below an output says that it was none. */
function readPort({ text, notes }: TraceAction): number | string | undefined {
  if (notes.some(({ level }) => level !== 'detail')) return undefined;
  if (/^(NORMAL|FLOOD|ALL|LOCAL|IN_PORT|CONTROLLER)\b/.test(text)) return /^\w+/.exec(text)![0];
  const target = /^output:(.*)$/.exec(text)?.[1];
  if (target === undefined) return undefined;
  if (/^\d+$/.test(target)) return Number(target);
  // From a field: `output:NXM_NX_REG2[]`.
  const found = notes.map((note) => /^output port is (\w+)$/.exec(note.text)?.[1]).find(Boolean);
  return found === undefined || !/^\d+$/.test(found) ? (found ?? target) : Number(found);
}
