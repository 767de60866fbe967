/** The flow of a table that a packet matches; ovs-fields(7), "Conjunctive Match Fields". */
import type { Action } from '../../actions.js';
import type { FlowRecord } from '../state.js';
import type { Packet } from './packet.js';

type Conjunction = Extract<Action, { readonly type: 'conjunction' }>;

const conjunctionsOf = ({ flow }: FlowRecord): readonly Conjunction[] =>
  (flow.actions ?? []).filter((action) => action.type === 'conjunction');

/** The fields that others require are in the match themselves, or the flow would have been refused. */
function matches({ pattern }: FlowRecord, packet: Packet): boolean {
  for (const [name, { value, mask }] of pattern) if ((packet.get(name) & mask) !== value) return false;
  return true;
}

/** The identifiers of conjunctions of which the flows meet every clause. */
function* completeIds(flows: readonly FlowRecord[]): Iterable<number> {
  const clauses = new Map<number, Set<number>>();
  for (const { id, clause, of } of flows.flatMap(conjunctionsOf)) {
    const met = clauses.get(id) ?? new Set();
    clauses.set(id, met.add(clause));
    if (met.size === of) yield id;
  }
}

const highest = (flows: readonly FlowRecord[]): FlowRecord | undefined =>
  flows.reduce<FlowRecord | undefined>(
    (best, flow) => (best === undefined || flow.flow.priority > best.flow.priority ? flow : best),
    undefined,
  );

/** The best of the flows that do something by themselves. */
function findPlain(table: readonly FlowRecord[], packet: Packet): FlowRecord | undefined {
  return highest(table.filter((record) => conjunctionsOf(record).length === 0 && matches(record, packet)));
}

/** The flow that matches the packet with the identifier of a conjunction. */
function findById(table: readonly FlowRecord[], packet: Packet, id: number): FlowRecord | undefined {
  const asked = packet.copy();
  asked.set('conj_id', BigInt(id));
  return findPlain(table, asked);
}

/**
 * The flow of the highest priority. Flows of a conjunction count together, and only above the priority of a flow that
 * matches by itself; of one priority the first conjunction is taken.
 */
export function findFlow(table: readonly FlowRecord[], packet: Packet): FlowRecord | undefined {
  const plain = findPlain(table, packet);
  const above = plain?.flow.priority ?? -1;
  const soft = table.filter(
    (record) => record.flow.priority > above && conjunctionsOf(record).length > 0 && matches(record, packet),
  );
  const priorities = [...new Set(soft.map(({ flow }) => flow.priority))].sort((a, b) => b - a);
  for (const priority of priorities)
    for (const id of completeIds(soft.filter(({ flow }) => flow.priority === priority))) {
      const found = findById(table, packet, id);
      if (found !== undefined) return found;
    }
  return plain;
}
