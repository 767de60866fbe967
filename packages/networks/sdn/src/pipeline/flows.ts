/** Words in which the flows are written. */
import type { Action, Flow, Match } from '@podwire/openflow';
import { TUNNEL_PORT } from '../ports.js';
import { type TableName, tables } from './tables.js';

export const MULTICAST = '224.0.0.0/4';

type Then = Pick<Flow, 'actions' | 'goto'>;

/** One flow. The match has the names of ovs-fields(7). */
export const flow = (table: TableName, priority: number, match: Match, then: Then): Flow => ({
  table: tables[table],
  priority,
  match,
  ...then,
});

export const ip = (match: Match = {}): Match => ({ eth_type: 0x0800, ...match });
export const arp = (match: Match = {}): Match => ({ eth_type: 0x0806, ...match });

export const drop: Then = {};
export const goTo = (table: TableName): Then => ({ goto: tables[table] });
/** No actions at all stand for none in the list, as a switch shows it. */
export const doThen = (actions: readonly Action[], table: TableName): Then =>
  actions.length === 0 ? goTo(table) : { actions, ...goTo(table) };
export const output = (port: number): Then => ({ actions: [{ type: 'output', port }] });

/** `reg0`: VNID of the sender; `reg1`: VNID of the receiver; `reg2`: port of the receiver. */
export const setRegister = (register: 'reg0' | 'reg1' | 'reg2', value: number): Action => ({
  type: 'load',
  value,
  to: { field: register },
});

/** To the port of the receiver. */
export const outputToPod: Then = { actions: [{ type: 'output_field', from: { field: 'reg2' } }] };

const tunnelKey = { field: 'tun_id', start: 0, bits: 32 } as const;

/** The VNID of the sender goes with the packet. */
export const keepVnid: Action = { type: 'move', from: { field: 'reg0' }, to: tunnelKey };
/** A receiver with a VNID of its own gets that one. */
export const replaceVnid = (vnid: number): Action => ({ type: 'load', value: vnid, to: tunnelKey });
/** The VNID that came with the packet is that of its sender. */
export const takeVnid: Action = { type: 'move', from: tunnelKey, to: { field: 'reg0' } };

/** Through the tunnel to the node of this address. */
export const sendTo = (address: string): readonly Action[] => [
  { type: 'set_field', field: 'tun_dst', value: address },
  { type: 'output', port: TUNNEL_PORT },
];
