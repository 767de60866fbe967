/** Flows, and changes of them, as data; OpenFlow 1.4.0, 5 and 7.3.4.2. */
import type { Action } from './actions.js';
import type { Match } from './match.js';
import type { Port } from './ports.js';

/** In the order in which a switch carries them out. */
export interface Instructions {
  readonly meter?: number;
  /** Carried out at once. A flow with no instruction at all drops. */
  readonly actions?: readonly Action[];
  /** Empties the action set. */
  readonly clear?: true;
  /** Kept in the action set until no table follows. */
  readonly write?: readonly Action[];
  /** A number of 64 bits: `'0x5'`, `'0x5/0xff'`. */
  readonly metadata?: string;
  /** A later table. */
  readonly goto?: number;
}

export type FlowFlag = 'send_flow_rem' | 'no_packet_counts' | 'no_byte_counts';

export interface Flow extends Instructions {
  /** 0 when absent. */
  readonly table?: number;
  /** 0 to 65535; 32768 when absent. */
  readonly priority?: number;
  /** A number of 64 bits: `'0x5'`; 0 when absent. */
  readonly cookie?: string;
  /** Everything when absent. */
  readonly match?: Match;
  /** Seconds without a packet, and seconds in all, after which the switch removes the flow; never when absent. */
  readonly idleTimeout?: number;
  readonly hardTimeout?: number;
  /** A full table evicts the flow with the lowest; 0 when absent. */
  readonly importance?: number;
  readonly flags?: readonly FlowFlag[];
}

export const DEFAULT_PRIORITY = 0x8000;

export type FlowCommand = 'add' | 'modify' | 'modify_strict' | 'delete' | 'delete_strict';

/**
 * A change of flows. `add` replaces a flow of the same table, match and priority. The strict commands mean just that one;
 * the others all flows that the match covers, in every table when the flow names none.
 */
export interface FlowMod {
  readonly type: 'flow_mod';
  readonly command: FlowCommand;
  readonly flow: Flow;
  /** Only flows with these bits of the cookie: `'0x5/0xff'`. */
  readonly cookieFilter?: string;
  /** Only flows that send there. */
  readonly outPort?: Port;
  readonly outGroup?: number;
  /** Refuses a flow that a packet could match as well as another one of the same priority. */
  readonly checkOverlap?: true;
  /** Sets the counters of the flow to zero. */
  readonly resetCounts?: true;
}

/** The flows that a dump or a deletion means; all when empty. */
export interface FlowSelector {
  readonly table?: number;
  readonly match?: Match;
  readonly cookieFilter?: string;
  readonly outPort?: Port;
  readonly outGroup?: number;
}

/** A flow as the switch has it. `packets` and `bytes` are absent when they are not counted. */
export interface FlowEntry {
  readonly flow: Flow;
  readonly packets?: number;
  readonly bytes?: number;
  /** seconds */
  readonly duration: number;
}

/** Adds a flow, or replaces the one of the same table, match and priority. */
export const addFlow = (flow: Flow): FlowMod => ({ type: 'flow_mod', command: 'add', flow });

/** Deletes the flow of this table, match and priority. */
export const deleteFlow = (flow: Pick<Flow, 'table' | 'match' | 'priority'>): FlowMod => {
  const { table = 0, match = {}, priority = DEFAULT_PRIORITY } = flow;
  return { type: 'flow_mod', command: 'delete_strict', flow: { table, match, priority } };
};

/** Deletes all flows that a selector covers. */
export const deleteFlows = ({ table, match, ...filters }: FlowSelector = {}): FlowMod => ({
  type: 'flow_mod',
  command: 'delete',
  flow: { ...(table === undefined ? {} : { table }), ...(match === undefined ? {} : { match }) },
  ...filters,
});
