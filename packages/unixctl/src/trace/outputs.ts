import type { Trace, TraceAction, TracePass, TraceStep } from './types.js';

export interface TraceOutput {
  /** The number of a port of the bridge, or the name of a reserved one: `LOCAL`, `NORMAL`. */
  readonly port: number | string;
  /** The flow whose action it is. */
  readonly step: TraceStep;
  /** Where it leads if a tunnel is behind the port: the latest `tun_dst` that an action has set. */
  readonly tunnelDestination?: string;
  /** The key of that tunnel, a VNI: the latest `tun_id` that an action has set. */
  readonly tunnelId?: number;
}

type TunnelFields = Pick<TraceOutput, 'tunnelDestination' | 'tunnelId'>;

/** Where the packet has left the bridge, in the order of the lookups; none when it was dropped. */
export function findOutputs({ passes }: Trace): TraceOutput[] {
  const outputs: TraceOutput[] = [];
  let tunnel: TunnelFields = {};
  for (const { step, action } of passes.filter(isCarriedOut).flatMap(listActions)) {
    tunnel = { ...tunnel, ...readTunnel(action) };
    const port = readPort(action);
    if (port !== undefined) outputs.push({ port, step, ...tunnel });
  }
  return outputs;
}

/** Nothing is when a translation has failed, or the other end of a tunnel is not known yet. */
const isCarriedOut = ({ datapathActions }: TracePass): boolean => datapathActions !== 'drop';

const listActions = ({ steps }: TracePass) =>
  steps.flatMap((step) => step.actions.map((action) => ({ step, action })));

function readTunnel({ text, notes }: TraceAction): TunnelFields {
  const tunnelDestination = /^set_field:(.*)->tun_dst$/.exec(text)?.[1];
  if (tunnelDestination !== undefined) return { tunnelDestination };
  // Moved from another field: the note has the value.
  const tunnelId = [text, ...notes.map((note) => note.text)].map(readTunnelId).find((id) => id !== undefined);
  return tunnelId === undefined ? {} : { tunnelId };
}

/** `set_field:0x5->tun_id`, `load:0x5->NXM_NX_TUN_ID[0..31]`, `NXM_NX_TUN_ID[0..31] is now 0x5`. */
function readTunnelId(text: string): number | undefined {
  const [, set, now] =
    /^(?:(?:set_field|load):(\w+)->(?:tun_id|NXM_NX_TUN_ID\[.*\])|NXM_NX_TUN_ID\[.*\] is now (\w+))$/.exec(
      text,
    ) ?? [];
  const id = Number(set ?? now ?? NaN);
  return Number.isNaN(id) ? undefined : id;
}

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
