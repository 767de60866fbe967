/** The action `ct` of one packet. */
import type { Action, Conntrack } from '../../actions.js';
import { parseFieldValue } from '../../field-value.js';
import {
  createConnection,
  findConnection,
  setOriginal,
  stateOf,
  translatedState,
  translatePacket,
  type Connection,
  type Found,
} from './connections.js';
import type { Packet } from './packet.js';

interface Tracked {
  /** A copy of the packet that knows its connection. */
  readonly packet: Packet;
  readonly connections: readonly Connection[];
}

function zoneOf({ zone = 0 }: Conntrack, packet: Packet): number {
  return typeof zone === 'number' ? zone : Number(packet.read(zone));
}

/** Carries out `exec` on the fields of a connection. */
function markConnection(connection: Connection, packet: Packet, actions: readonly Action[]): Connection {
  const marked = packet.copy();
  marked.set('ct_mark', connection.mark);
  marked.set('ct_label', connection.label);
  for (const action of actions) {
    if (action.type === 'set_field')
      marked.set(action.field, parseFieldValue(action.field, action.value).value);
    if (action.type === 'load') marked.write(action.to, BigInt(action.value));
    if (action.type === 'move') marked.write(action.to, marked.read(action.from));
  }
  return { ...connection, mark: marked.get('ct_mark'), label: marked.get('ct_label') };
}

/** `force` ends a connection whose answers the packet looks like. */
function findFor(action: Conntrack, packet: Packet, connections: readonly Connection[]): Found | undefined {
  const found = findConnection(connections, packet, zoneOf(action, packet));
  return action.force && found?.isReply ? undefined : found;
}

const replaceIn = (
  connections: readonly Connection[],
  old: Connection | undefined,
  next: Connection,
): readonly Connection[] => [...connections.filter((connection) => connection !== old), next];

/** The connection as it is after the packet, and its place among the others. */
function update(
  action: Conntrack,
  packet: Packet,
  connections: readonly Connection[],
): { readonly found: Found | undefined; readonly connections: readonly Connection[] } {
  const zone = zoneOf(action, packet);
  const found = findFor(action, packet, connections);
  if (found === undefined && !action.commit) return { found, connections };
  const replaced = action.force ? findConnection(connections, packet, zone) : found;
  const known = found?.connection ?? createConnection(packet, zone, action.nat);
  const answered = found?.isReply ? { ...known, isAnswered: true } : known;
  const next = action.commit ? markConnection(answered, packet, action.exec ?? []) : answered;
  return {
    found: { connection: next, isReply: found?.isReply ?? false },
    connections: replaceIn(connections, replaced?.connection, next),
  };
}

/** Tracks a packet, which is translated if the action says so. `state` replaces the state that it would have. */
export function track(
  action: Conntrack,
  packet: Packet,
  connections: readonly Connection[],
  state: string | undefined,
): Tracked {
  const before = findFor(action, packet, connections);
  const updated = update(action, packet, connections);
  if (action.nat !== undefined && updated.found !== undefined) translatePacket(packet, updated.found);
  const resumed = packet.copy();
  resumed.learn();
  const seen = before === undefined ? undefined : updated.found;
  const translated = action.nat === undefined ? 0n : translatedState(updated.found);
  const own = stateOf(seen) | translated;
  resumed.set('ct_state', state === undefined ? own : parseFieldValue('ct_state', state).value);
  resumed.set('ct_zone', BigInt(zoneOf(action, packet)));
  resumed.set('ct_mark', updated.found?.connection.mark ?? 0n);
  resumed.set('ct_label', updated.found?.connection.label ?? 0n);
  if (updated.found !== undefined) setOriginal(resumed, updated.found.connection);
  return { packet: resumed, connections: updated.connections };
}
