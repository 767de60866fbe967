/** The parts of a trace by Open vSwitch that are compared. */
import { type FieldName, type Match, parseMatch, type Port } from '@podwire/openflow';
import { readTrace } from '@podwire/unixctl';

export interface TraceSummary {
  /** Table and priority of each lookup; `undefined` where nothing matched. */
  readonly steps: readonly (readonly [table: number, priority: number | undefined])[];
  readonly outputs: readonly Port[];
  /** The packet at the end of each pass through the tables. */
  readonly packets: readonly Match[];
  readonly hasFailed: boolean;
}

/** The parts between commas outside of parentheses. */
function splitActions(text: string): string[] {
  const parts: string[] = [];
  let [depth, start] = [0, 0];
  for (const [at, character] of [...text, ','].entries()) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character === ',' && depth === 0) parts.push(text.slice(start, (start = at + 1) - 1));
  }
  return parts;
}

/** Ports of the datapath have the numbers of the bridge's, except that of the bridge itself. */
const LOCAL = '100';

function readOutputs(actions: string): Port[] {
  return splitActions(actions).flatMap((action): Port[] => {
    const clone = /^clone\((.*)\)$/.exec(action);
    if (clone !== null) return readOutputs(clone[1]!);
    return /^\d+$/.test(action) ? [action === LOCAL ? 'LOCAL' : Number(action)] : [];
  });
}

/** `eth` and numbers of passes are no fields of the packet; a state is known by the tables alone. */
const parsePacket = (text: string): Match =>
  parseMatch(text.replace(/\b(eth|recirc_id=\w+|ct_\w+=[^,]*|\w*vlan\w*[1-9]=\w+),?/g, ''));

export function summarizeTrace(text: string): TraceSummary {
  const { passes } = readTrace(text);
  return {
    steps: passes.flatMap(({ steps }) => steps).map(({ table, priority }) => [table, priority] as const),
    outputs: passes.flatMap(({ datapathActions }) => readOutputs(datapathActions)),
    packets: passes.map(({ finalFlow }) => parsePacket(finalFlow)),
    hasFailed: passes.some(({ failure }) => failure !== undefined),
  };
}

/** Fields that are compared at the end of a pass. */
export const compared: readonly FieldName[] = [
  ...(['reg0', 'reg1', 'reg2', 'metadata', 'vlan_vid', 'eth_src', 'eth_dst', 'eth_type'] as const),
  ...(['ip_src', 'ip_dst', 'ip_ttl', 'tcp_src', 'tcp_dst', 'udp_src', 'udp_dst', 'in_port'] as const),
];
