import { duplexPair, type Duplex } from 'node:stream';
import type { ErrorName } from '../error-codes.js';
import type { Flow } from '../flow.js';
import type { Group, MeterMod } from '../group.js';
import type { Change, DumpReply, DumpRequest } from '../message.js';
import type { Features, PacketOut, PortDescription } from '../port-description.js';
import { groupBy } from '@podwire/platform';
import { answerDump, TABLE_COUNT } from './dumps.js';
import { checkActions } from './check-actions.js';
import { parsePacket } from './evaluate/parse-packet.js';
import { changeFlows, listFlowChanges, referencedGroups } from './flow-changes.js';
import { changeGroups, changeMeters } from './group-changes.js';
import type { Connection } from './evaluate/connections.js';
import { evaluatePacket } from './evaluate/evaluate.js';
import type { EvaluatedOutput, EvaluateOptions, Evaluation, Surface } from './evaluate/evaluation.js';
import type { PacketFields } from './evaluate/packet.js';
import { Refusal, refuseUnless } from './refusal.js';
import { type ReportedEvent, Session, type SwitchCore } from './session.js';
import { copyTables, emptyTables, type FlowRecord, type Tables } from './state.js';

export interface FakeSwitchOptions {
  readonly ports?: readonly PortDescription[];
  /** milliseconds, for the age of flows; a clock that stands still when absent */
  readonly now?: () => number;
  /** 16 hexadecimal digits. */
  readonly datapathId?: string;
  /** Gets the outputs of packets that a connection sends. */
  readonly onOutput?: (output: EvaluatedOutput) => void;
}

/**
 * A switch in memory that speaks the protocol. It refuses what Open vSwitch refuses, with the same error. Flows do not
 * expire, and groups and ports do not count.
 */
export class FakeSwitch implements SwitchCore {
  readonly features: Features;
  readonly #now: () => number;
  readonly #onOutput: (output: EvaluatedOutput) => void;
  readonly #ports = new Map<PortDescription['port'], PortDescription>();
  readonly #sessions = new Set<Session>();
  #tables: Tables = emptyTables();
  #connections: readonly Connection[] = [];
  #refusals: (ErrorName | undefined)[] = [];

  constructor(options: FakeSwitchOptions = {}) {
    const {
      ports = [],
      now = () => 0,
      datapathId = '0000000000000001',
      onOutput = () => undefined,
    } = options;
    this.#onOutput = onOutput;
    this.features = { datapathId, tables: TABLE_COUNT };
    this.#now = now;
    for (const port of ports) this.#ports.set(port.port, port);
  }

  /** A stream for `connectSwitch`. */
  connect(): Duplex {
    const [near, far] = duplexPair();
    const session = new Session(far, this);
    this.#sessions.add(session);
    // A pair does not pass on that one end is destroyed.
    near.on('close', () => far.destroy());
    far.on('close', () => {
      this.#sessions.delete(session);
      near.destroy();
    });
    return near;
  }

  /** Ends all connections, as a switch does that is restarted; what it holds is gone then. */
  restart(): void {
    for (const session of this.#sessions) session.end();
    this.#sessions.clear();
    this.#tables = emptyTables();
    this.#connections = [];
  }

  /** Refuses the change of flows, groups or meters after `skipped` more of them, once. */
  refuseChange(name: ErrorName, skipped = 0): void {
    this.#refusals = [...Array<undefined>(skipped).fill(undefined), name];
  }

  flows(): Flow[] {
    return [...this.#tables.flows.values()].map(({ flow }) => flow);
  }

  groups(): Group[] {
    return [...this.#tables.groups.values()];
  }

  /**
   * Sends a packet through the tables: from where it leaves, and the way that it takes. Connections that are committed are
   * known to the packets that follow.
   * @throws RangeError when a value is none of its field, or where Open vSwitch would end itself: `ct` with a table while
   *   the action set is not empty
   */
  evaluate(packet: PacketFields, options: EvaluateOptions = {}): Evaluation {
    const { evaluation, hits } = evaluatePacket(this.#surface(), packet, this.#connections, options);
    for (const { counters } of hits) counters.packets += 1;
    this.#connections = evaluation.connections;
    return evaluation;
  }

  /** @internal */
  sendPacket({ inPort = 'CONTROLLER', actions, packet }: PacketOut): void {
    checkActions(actions);
    for (const group of referencedGroups(actions))
      refuseUnless(this.#tables.groups.has(group), 'OFPBAC_BAD_OUT_GROUP', `there is no group ${group}`);
    const fields = { in_port: inPort, ...parsePacket(packet) };
    const { evaluation, hits } = evaluatePacket(this.#surface(), fields, this.#connections, {}, actions);
    for (const { counters } of hits) {
      counters.packets += 1;
      counters.bytes += packet.length;
    }
    this.#connections = evaluation.connections;
    for (const output of evaluation.outputs) this.#onOutput(output);
  }

  #surface(): Surface {
    const ports = new Map(
      [...this.#ports.values()].map(({ port, isDown, hasLink }) => [port, hasLink && !isDown]),
    );
    return {
      tables: groupBy(this.#tables.flows.values(), ({ flow }) => flow.table),
      groups: this.#tables.groups,
      ports,
    };
  }

  /** Adds a port, or changes the one of this number. */
  setPort(description: PortDescription): void {
    const change = this.#ports.has(description.port) ? 'modify' : 'add';
    this.#ports.set(description.port, description);
    this.#report({ type: 'port_status', change, description });
  }

  removePort(port: PortDescription['port']): void {
    const description = this.#ports.get(port);
    if (description === undefined) return;
    this.#ports.delete(port);
    this.#report({ type: 'port_status', change: 'delete', description });
  }

  /** @internal */
  answerDump(request: DumpRequest): DumpReply {
    return answerDump(request, { tables: this.#tables, ports: [...this.#ports.values()], now: this.#now() });
  }

  /** @internal */
  change(
    by: Session,
    changes: readonly (Change | MeterMod)[],
    onRefusal: (index: number, error: unknown) => never = (_, error) => {
      throw error;
    },
  ): void {
    const tables = copyTables(this.#tables);
    const removed: FlowRecord[] = [];
    for (const [index, change] of changes.entries()) {
      try {
        removed.push(...this.#changeOne(tables, change));
      } catch (error) {
        onRefusal(index, error);
      }
    }
    const before = this.#tables;
    this.#tables = tables;
    this.#reportChanges(by, before);
    for (const record of removed) this.#reportRemoval(record);
  }

  #changeOne(tables: Tables, change: Change | MeterMod): FlowRecord[] {
    const refusal = this.#refusals.shift();
    if (refusal !== undefined) throw new Refusal(refusal, 'refused as the test wants it');
    switch (change.type) {
      case 'flow_mod':
        return changeFlows(tables, change, this.#now());
      case 'group_mod':
        return changeGroups(tables, change);
      case 'meter_mod':
        return changeMeters(tables, change);
    }
  }

  #reportRemoval({ flow, counters, addedAt }: FlowRecord): void {
    if (!flow.flags?.includes('send_flow_rem')) return;
    const { table, priority, match, cookie } = flow;
    const duration = (this.#now() - addedAt) / 1000;
    const common = {
      type: 'flow_removed',
      reason: 'delete',
      table,
      priority,
      match,
      duration,
      ...counters,
    } as const;
    this.#report(cookie === undefined ? common : { ...common, cookie });
  }

  /** To all connections but the one that has made them. */
  #reportChanges(by: Session, before: Tables): void {
    const others = [...this.#sessions].filter((session) => session !== by && session.isMonitoring);
    if (others.length === 0) return;
    const changes = listFlowChanges(before, this.#tables);
    for (const session of others) session.reportChanges(changes);
  }

  #report(event: ReportedEvent): void {
    for (const session of this.#sessions) session.report(event);
  }
}
