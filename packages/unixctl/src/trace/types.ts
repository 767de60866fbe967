/** The way of a packet through the tables, as `ofproto/trace` prints it (ovs-vswitchd(8)). Every text is its own. */

/** Said about an action: ` -> detail`, ` >> warning`, ` >>>> error <<<<`. */
export interface TraceNote {
  readonly level: 'detail' | 'warning' | 'error';
  readonly text: string;
}

export interface TraceAction {
  /** As ovs-ofctl(8) writes it: `output:2`, `load:0x2a->NXM_NX_REG0[]`; also `bucket 0` of a group. */
  readonly text: string;
  readonly notes: readonly TraceNote[];
}

/** A lookup in a table. */
export interface TraceStep {
  readonly bridge: string;
  readonly table: number;
  /** 0 for the table where a pass begins; 1 for one from which the packet comes back to the actions behind `resubmit`. */
  readonly depth: number;
  /** The match of the flow that was found, empty when it takes every packet; absent when none was. */
  readonly match?: string;
  readonly priority?: number;
  /** `0x706f6477`; absent when it is zero. */
  readonly cookie?: string;
  /** The reason for which no flow was found: `No match.` */
  readonly miss?: string;
  /** Those that were carried out, in the order of the flow. A packet that goes nowhere has `drop` as its last one. */
  readonly actions: readonly TraceAction[];
}

/** How a packet has come back to the tables. */
export interface Resumption {
  /** `0x1` */
  readonly recirculation: string;
  /** `resume conntrack with default ct_state=trk|new (use --ct-next to customize)` */
  readonly text: string;
  /** The state that connection tracking is taken to have found: `trk|new`. */
  readonly ctState?: string;
  readonly table?: number;
}

/** From an entry into the tables up to where the packet leaves them. */
export interface TracePass {
  /** Absent for the first one. */
  readonly resumed?: Resumption;
  /** The packet, and at the end of the pass: `tcp,in_port=3,…`. */
  readonly flow: string;
  readonly finalFlow: string;
  readonly steps: readonly TraceStep[];
  /** The fields that have decided, with masks. */
  readonly megaflow: string;
  /** `ct,recirc(0x1)`; `drop`. Ports have the numbers of the datapath. */
  readonly datapathActions: string;
  /** The reason for which ovs-vswitchd has given up: `Recursion too deep`. */
  readonly failure?: string;
  /** Lines that this library does not understand. */
  readonly others: readonly string[];
}

export interface Trace {
  readonly passes: readonly TracePass[];
}
