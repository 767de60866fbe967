/** One packet through the tables; ovs-actions(7) says what each action does. */
import type { Action, Conntrack, Resubmit } from '../../actions.js';
import { parseFieldValue } from '../../field-value.js';
import type { FlowRecord } from '../state.js';
import type { Flow } from '../../flow.js';
import type { Group } from '../../group.js';
import { portNumber, portOf, type Port } from '../../ports.js';
import { orderActionSet } from './action-set.js';
import { chooseBuckets } from './buckets.js';
import type { Connection } from './connections.js';
import type {
  EvaluatedOutput,
  EvaluatedStep,
  EvaluateOptions,
  Evaluation,
  Resumption,
  Surface,
} from './evaluation.js';
import { findFlow } from './lookup.js';
import { changePacket } from './change-packet.js';
import { Packet, type PacketFields } from './packet.js';
import { track } from './track.js';

/** Open vSwitch gives up at these. */
const DEEPEST = 64;
const MOST_LOOKUPS = 4096;
/** A packet that comes back from tracking again and again would never end. */
const MOST_PASSES = 1000;

class GivenUp extends Error {}

/** State of a packet on its way. */
class Passage {
  readonly outputs: EvaluatedOutput[] = [];
  readonly steps: EvaluatedStep[] = [];
  readonly waiting: Resumption[] = [];
  readonly surface: Surface;
  readonly options: EvaluateOptions;
  /** Flows that were hit, for their counters. */
  readonly hits: FlowRecord[] = [];
  connections: readonly Connection[];
  states: readonly string[];
  actionSet: readonly Action[] = [];
  packet: Packet;
  #depth = 0;
  #lookups = 0;

  constructor(
    surface: Surface,
    packet: Packet,
    connections: readonly Connection[],
    options: EvaluateOptions,
  ) {
    this.surface = surface;
    this.packet = packet;
    this.connections = connections;
    this.options = options;
    this.states = options.states ?? [];
  }

  /** Limits are those of one pass. */
  begin(packet: Packet): void {
    this.packet = packet;
    this.actionSet = [];
    this.#depth = 0;
    this.#lookups = 0;
  }

  /** Looks the packet up, and does what the flow says. */
  enter(table: number, lookup: Packet = this.packet): void {
    this.#lookups += 1;
    if (this.#lookups > MOST_LOOKUPS) throw new GivenUp(`more than ${MOST_LOOKUPS} lookups`);
    const found = findFlow(this.surface.tables.get(table) ?? [], lookup);
    this.steps.push(found === undefined ? { table } : { table, flow: found.flow });
    if (found === undefined) return;
    this.hits.push(found);
    this.deeper(() => this.#follow(found.flow, table));
  }

  deeper(work: () => void): void {
    this.#depth += 1;
    if (this.#depth > DEEPEST) throw new GivenUp(`deeper than ${DEEPEST} tables`);
    work();
    this.#depth -= 1;
  }

  #follow({ actions = [], clear, write = [], metadata, goto }: Flow, table: number): void {
    if (!this.execute(actions, table)) return;
    if (clear) this.actionSet = [];
    this.actionSet = [...this.actionSet, ...write];
    if (metadata !== undefined) {
      const { value, mask } = parseFieldValue('metadata', metadata);
      this.packet.set('metadata', (this.packet.get('metadata') & ~mask) | (value & mask));
    }
    if (goto !== undefined) this.enter(goto);
  }

  /** Returns false when the rest of the flow is not carried out. */
  execute(actions: readonly Action[], table: number): boolean {
    for (const action of actions) if (!this.#do(action, table)) return false;
    return true;
  }

  /** Carries out the action set. */
  finish(): void {
    const actions = orderActionSet(this.actionSet);
    this.actionSet = [];
    this.execute(actions, 0);
  }

  /** Carries out one action; false when those behind it are not carried out. */
  #do(action: Action, table: number): boolean {
    const { packet } = this;
    if (changePacket(action, packet)) return true;
    switch (action.type) {
      case 'output':
        this.#output(action.port);
        return true;
      case 'output_field':
        this.#output(portOf(Number(packet.read(action.from))), true);
        return true;
      case 'controller':
        this.#send('CONTROLLER');
        return true;
      case 'group':
        this.#enterGroup(this.surface.groups.get(action.group), table);
        return true;
      case 'dec_ttl':
        return this.#decrement();
      case 'resubmit':
        this.#resubmit(action, table);
        return true;
      case 'clone':
        this.#clone(action.actions, table);
        return true;
      case 'ct':
        this.#track(action);
        return true;
      case 'ct_clear':
        clearTracking(packet);
        return true;
      case 'raw':
        throw new GivenUp('an action that this library does not know');
      default:
        // A queue, a note, a part of a conjunction: they change no way.
        return true;
    }
  }

  #send(port: Port): void {
    this.outputs.push({ port, packet: this.packet.describe() });
  }

  /** A packet does not go back to where it came from, unless it is sent to `IN_PORT`. */
  #output(port: Port, fromField = false): void {
    const inPort = portOf(Number(this.packet.get('in_port')));
    switch (port) {
      case 'IN_PORT':
        return this.#send(inPort);
      case 'TABLE':
        return this.enter(0);
      case 'FLOOD':
      case 'ALL':
        for (const each of this.surface.ports.keys()) if (each !== inPort) this.#send(each);
        return;
      case 'NORMAL':
      case 'CONTROLLER':
        return this.#send(port);
      case 'ANY':
        return;
      default:
        if (port === inPort && !(fromField && port === portOf(portNumber('IN_PORT')))) return;
        if (this.surface.ports.has(port)) this.#send(port);
    }
  }

  #enterGroup(group: Group | undefined, table: number): void {
    if (group === undefined) return;
    for (const bucket of chooseBuckets(group, this.packet, this.surface, this.options)) {
      const before = this.packet.copy();
      this.deeper(() => this.execute(orderActionSet(bucket.actions), table));
      this.packet.restore(before);
    }
  }

  /** A packet whose time is over goes to the controller, and no further in this table. */
  #decrement(): boolean {
    if (!this.packet.has('ip_ttl')) return true;
    const ttl = this.packet.get('ip_ttl');
    if (ttl > 1n) {
      this.packet.set('ip_ttl', ttl - 1n);
      return true;
    }
    this.#send('CONTROLLER');
    return false;
  }

  /** Another port, and the tuple of the connection, count for the lookup alone. */
  #resubmit({ port, table, ct }: Resubmit, current: number): void {
    const lookup = port === undefined && !ct ? this.packet : this.packet.copy();
    if (port !== undefined) lookup.set('in_port', BigInt(portNumber(port)));
    if (ct) swapTuple(lookup);
    this.enter(table ?? current, lookup);
  }

  /** A clone is a packet of its own, which goes through a copy of the action set too. */
  #clone(actions: readonly Action[], table: number): void {
    const [packet, actionSet] = [this.packet, this.actionSet];
    this.packet = packet.copy();
    this.execute(actions, table);
    this.finish();
    this.packet = packet;
    this.actionSet = actionSet;
  }

  #track(action: Conntrack): void {
    const [state, ...rest] = this.states;
    const tracked = track(
      action,
      this.packet,
      this.connections,
      action.table === undefined ? undefined : state,
    );
    this.connections = tracked.connections;
    if (action.table !== undefined) {
      // ovs-vswitchd 3.1 ends there with a failed assertion, and with it the network of the node.
      if (this.actionSet.length > 0)
        throw new RangeError('a packet with an action set is tracked: Open vSwitch would end itself');
      this.states = rest;
      this.waiting.push({ packet: tracked.packet, table: action.table });
    }
    clearTracking(this.packet);
  }
}

const trackingFields = [
  ...(['ct_state', 'ct_zone', 'ct_mark', 'ct_label', 'ct_nw_proto', 'ct_nw_src', 'ct_nw_dst'] as const),
  ...(['ct_ipv6_src', 'ct_ipv6_dst', 'ct_tp_src', 'ct_tp_dst'] as const),
];

function clearTracking(packet: Packet): void {
  for (const name of trackingFields) packet.set(name, 0n);
}

/** The original direction of the connection instead of that of the packet. */
function swapTuple(packet: Packet): void {
  const isIpv6 = packet.get('eth_type') === 0x86ddn;
  const pairs = isIpv6
    ? ([
        ['ipv6_src', 'ct_ipv6_src'],
        ['ipv6_dst', 'ct_ipv6_dst'],
      ] as const)
    : ([
        ['ip_src', 'ct_nw_src'],
        ['ip_dst', 'ct_nw_dst'],
      ] as const);
  for (const [name, original] of pairs) packet.set(name, packet.get(original));
  const protocol = { 6: 'tcp', 17: 'udp', 132: 'sctp' }[Number(packet.get('ip_proto'))];
  if (protocol === undefined) return;
  packet.set(`${protocol}_src` as 'tcp_src', packet.get('ct_tp_src'));
  packet.set(`${protocol}_dst` as 'tcp_dst', packet.get('ct_tp_dst'));
}

/**
 * Runs one pass: from a table until no table follows, and then the action set. A pass that is given up does nothing;
 * what others did stays.
 */
function pass(passage: Passage, packet: Packet, begin: () => void): string | undefined {
  const [outputs, waiting, { connections }] = [passage.outputs.length, passage.waiting.length, passage];
  passage.begin(packet);
  try {
    begin();
    passage.finish();
    return undefined;
  } catch (error) {
    if (!(error instanceof GivenUp)) throw error;
    passage.outputs.length = outputs;
    passage.waiting.length = waiting;
    passage.connections = connections;
    return error.message;
  }
}

/**
 * Sends a packet through actions, or through the tables from table 0 on, with the connections that are known. Returns
 * where it leaves, and the flows that it has hit.
 */
export function evaluatePacket(
  surface: Surface,
  fields: PacketFields,
  connections: readonly Connection[],
  options: EvaluateOptions = {},
  actions?: readonly Action[],
): { readonly evaluation: Evaluation; readonly hits: readonly FlowRecord[] } {
  const passage = new Passage(surface, Packet.of(fields), connections, options);
  const packets: PacketFields[] = [];
  const failures: string[] = [];
  const go = (packet: Packet, begin: () => void): void => {
    const failure = pass(passage, packet, begin);
    packets.push(passage.packet.describe());
    if (failure !== undefined) failures.push(failure);
    if (packets.length > MOST_PASSES)
      throw new RangeError(`the packet came back more than ${MOST_PASSES} times`);
  };
  go(passage.packet, () => (actions === undefined ? passage.enter(0) : passage.execute(actions, 0)));
  for (let next = passage.waiting.shift(); next !== undefined; next = passage.waiting.shift()) {
    const { packet, table } = next;
    go(packet, () => passage.enter(table));
  }
  const { outputs, steps, hits } = passage;
  return { evaluation: { outputs, steps, packets, failures, connections: passage.connections }, hits };
}
