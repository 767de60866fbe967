/** Ports of a switch, packets and what a switch reports by itself, as data. */
import type { Action } from './actions.js';
import type { Flow, FlowEntry } from './flow.js';
import type { Match } from './match.js';
import type { Port } from './ports.js';

export interface PortDescription {
  readonly port: Port;
  readonly name: string;
  readonly mac: string;
  /** Set by the configuration, and as the link is. */
  readonly isDown: boolean;
  readonly hasLink: boolean;
}

export interface PortStatistics {
  readonly port: Port;
  /** seconds */
  readonly duration: number;
  readonly received: PortCounters;
  readonly sent: PortCounters;
}

/** Absent where the port does not count. */
export interface PortCounters {
  readonly packets?: number;
  readonly bytes?: number;
  readonly dropped?: number;
  readonly errors?: number;
}

export interface TableStatistics {
  readonly table: number;
  readonly active: number;
  readonly lookups: number;
  readonly matches: number;
}

export interface Features {
  /** 16 hexadecimal digits. */
  readonly datapathId: string;
  readonly tables: number;
}

/** Sends a packet through actions, or with output to `TABLE` through the tables. */
export interface PacketOut {
  readonly type: 'packet_out';
  /** From where it comes, for matches and for `IN_PORT`; `CONTROLLER` when absent. */
  readonly inPort?: Port;
  readonly actions: readonly Action[];
  readonly packet: Uint8Array;
}

export interface PacketIn {
  readonly type: 'packet_in';
  readonly reason: number;
  readonly table: number;
  readonly cookie?: string;
  /** The port, registers and metadata. */
  readonly match: Match;
  readonly packet: Uint8Array;
}

export interface PortStatus {
  readonly type: 'port_status';
  readonly change: 'add' | 'delete' | 'modify';
  readonly description: PortDescription;
}

export type RemovalReason =
  'idle_timeout' | 'hard_timeout' | 'delete' | 'group_delete' | 'meter_delete' | 'eviction';

/** Of a flow with the flag `send_flow_rem`; its actions are not reported. */
export interface FlowRemoved extends Omit<FlowEntry, 'flow'> {
  readonly type: 'flow_removed';
  readonly reason: RemovalReason;
  readonly table: number;
  readonly priority: number;
  readonly cookie?: string;
  readonly match: Match;
}

/**
 * Another connection, or the switch itself, has changed a flow. `missed`: there were more changes than the switch kept for
 * a reader as slow as this one.
 */
export type FlowChange =
  | {
      readonly type: 'flow_change';
      readonly change: 'add' | 'modify' | 'delete';
      /** Without its instructions. */
      readonly flow: Flow;
    }
  | { readonly type: 'flow_change'; readonly change: 'missed' };

export type SwitchEvent = PacketIn | PortStatus | FlowRemoved | FlowChange;
