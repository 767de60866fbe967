/** Packets through the tables of a switch, as Open vSwitch 3.1 carries them. */
import type { Flow } from '../../flow.js';
import type { Group } from '../../group.js';
import type { Port } from '../../ports.js';
import type { FlowRecord } from '../state.js';
import type { Connection } from './connections.js';
import type { Packet, PacketFields } from './packet.js';

/** Everything that decides about a packet. */
export interface Surface {
  /** Flows by table. */
  readonly tables: ReadonlyMap<number, readonly FlowRecord[]>;
  readonly groups: ReadonlyMap<number, Group>;
  /** Ports that there are, and whether each has its link. */
  readonly ports: ReadonlyMap<Port, boolean>;
}

export interface EvaluateOptions {
  /**
   * The bucket of a group `select`, by its place; when absent a hash of addresses, protocol and ports chooses by weight.
   * A real switch has a hash of its own, so a test holds for every bucket.
   */
  readonly chooseBucket?: ((group: Group, packet: PacketFields) => number) | undefined;
  /** States of the packet as it comes back from tracking, one each time, instead of those of its connections: `+trk+rel`. */
  readonly states?: readonly string[] | undefined;
}

/** A packet as it leaves. */
export interface EvaluatedOutput {
  readonly port: Port;
  readonly packet: PacketFields;
}

/** One lookup. */
export interface EvaluatedStep {
  readonly table: number;
  /** Absent when no flow matches. */
  readonly flow?: Flow;
}

export interface Evaluation {
  /** Empty for a packet that is dropped. */
  readonly outputs: readonly EvaluatedOutput[];
  /** The way through the tables, in order; copies that come back from tracking follow those that sent them there. */
  readonly steps: readonly EvaluatedStep[];
  /** The last state of the packet, of each pass through the tables. */
  readonly packets: readonly PacketFields[];
  /** Passes that the switch gave up, with too many lookups or too deep, and which therefore did nothing. */
  readonly failures: readonly string[];
  readonly connections: readonly Connection[];
}

/** Work that waits: a packet that comes back from tracking. */
export interface Resumption {
  readonly packet: Packet;
  readonly table: number;
}
