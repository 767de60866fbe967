/** Actions as data; ovs-actions(7). An empty list drops the packet. */
import type { FieldName } from './fields.js';
import type { FieldValue } from './field-value.js';
import type { Port } from './ports.js';
import type { Subfield } from './subfield.js';

export type Action =
  | Output
  | OutputField
  | Controller
  | { readonly type: 'group'; readonly group: number }
  | { readonly type: 'set_queue'; readonly queue: number }
  | SetField
  | Move
  | Load
  | { readonly type: 'push'; readonly from: Subfield }
  | { readonly type: 'pop'; readonly to: Subfield }
  | Resubmit
  /** 0x8100, or 0x88a8 for an outer tag. */
  | { readonly type: 'push_vlan'; readonly etherType: number }
  | { readonly type: 'pop_vlan' }
  | { readonly type: 'dec_ttl' }
  | Conntrack
  | { readonly type: 'ct_clear' }
  | Conjunction
  /** Bytes in hexadecimal digits that the switch keeps and ignores; it fills them up to a multiple of 8, less 2. */
  | { readonly type: 'note'; readonly bytes: string }
  /** Actions whose changes of the packet end with them. */
  | { readonly type: 'clone'; readonly actions: readonly Action[] }
  /** An action that this library does not know, or that has such a field, with its header: sent back as it came. */
  | { readonly type: 'raw'; readonly bytes: string };

export interface Output {
  readonly type: 'output';
  readonly port: Port;
}

/** To the port whose number is in a field. */
export interface OutputField {
  readonly type: 'output_field';
  readonly from: Subfield;
}

export interface Controller {
  readonly type: 'controller';
  /** How much of the packet is sent; all of it when absent. */
  readonly maxLength?: number;
  /** Which controller connection gets it; 0 when absent. */
  readonly id?: number;
  readonly reason?: PacketInReason;
}

/** `action` when absent. */
export type PacketInReason = 'no_match' | 'action' | 'invalid_ttl';

/** A whole field; for a part of one there is `load`. */
export interface SetField {
  readonly type: 'set_field';
  readonly field: FieldName;
  readonly value: FieldValue;
}

export interface Move {
  readonly type: 'move';
  readonly from: Subfield;
  readonly to: Subfield;
}

export interface Load {
  readonly type: 'load';
  /** Beyond 53 bits as text: `'0x10000000000000'`. At most 64 bits. */
  readonly value: number | string;
  readonly to: Subfield;
}

/** Looks the packet up again: as if from another port, in another table, or both. */
export interface Resubmit {
  readonly type: 'resubmit';
  /** The packet's own when absent. */
  readonly port?: Port;
  /** The current one when absent. */
  readonly table?: number;
  /** Exchanges source and destination by those of the tracked connection for this lookup. */
  readonly ct?: true;
}

/** Tracks the connection of the packet. */
export interface Conntrack {
  readonly type: 'ct';
  readonly commit?: true;
  /** Replaces an existing connection of the other direction. */
  readonly force?: true;
  /** Where a copy of the packet goes on, with its state; without a table the list goes on as it was. */
  readonly table?: number;
  /** 0 when absent. */
  readonly zone?: number | Subfield;
  readonly nat?: Nat;
  /** Only with `commit`: sets `ct_mark` and `ct_label` of the connection. */
  readonly exec?: readonly Action[];
  readonly alg?: 'ftp' | 'tftp';
}

/** Without a direction the translation of the connection is applied to the packet. */
export interface Nat {
  readonly direction?: 'src' | 'dst';
  /** `10.0.0.1`, `10.0.0.1-10.0.0.9`. */
  readonly addresses?: string;
  readonly ports?: readonly [first: number, last: number];
  readonly persistent?: true;
  /** How a port is chosen. */
  readonly choice?: 'hash' | 'random';
}

/** Clause `clause` of the `of` clauses of conjunction `id`, counted from 1. */
export interface Conjunction {
  readonly type: 'conjunction';
  readonly id: number;
  readonly clause: number;
  readonly of: number;
}
