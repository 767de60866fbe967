/** One connection to a fake switch: what is sent to it, and what it gets. */
import type { Duplex } from 'node:stream';
import { decodeMessage, encodeMessage } from '../codec/message.js';
import { Framing } from '../connection/framing.js';
import type { MeterMod } from '../group.js';
import type { Change, DumpReply, DumpRequest, Message } from '../message.js';
import type { Features, FlowChange, PacketOut, SwitchEvent } from '../port-description.js';
import { encodeDump } from './dumps.js';
import { Refusal, refusalMessage, refuseUnless } from './refusal.js';

/** Events that are messages of their own. */
export type ReportedEvent = Exclude<SwitchEvent, FlowChange>;

interface Bundle {
  readonly changes: { readonly xid: number; readonly change: Change; readonly request: Buffer }[];
  isClosed: boolean;
}

/** The switch behind its connections. */
export interface SwitchCore {
  readonly features: Features;
  answerDump(request: DumpRequest): DumpReply;
  /** @throws Refusal, DecodeError */
  sendPacket(message: PacketOut): void;
  /**
   * Makes all changes or none. `onRefusal` gets the place of the one that is refused, and throws.
   * @throws Refusal
   */
  change(
    by: Session,
    changes: readonly (Change | MeterMod)[],
    onRefusal?: (index: number, error: unknown) => never,
  ): void;
}

type Of<Type extends Message['type']> = Extract<Message, { readonly type: Type }>;

export class Session {
  readonly #stream: Duplex;
  readonly #switch: SwitchCore;
  readonly #framing = new Framing();
  readonly #bundles = new Map<number, Bundle>();
  #events: readonly SwitchEvent['type'][] = [];
  #isMonitoring = false;

  constructor(stream: Duplex, owner: SwitchCore) {
    this.#stream = stream;
    this.#switch = owner;
    stream.on('data', (chunk: Buffer) => {
      for (const bytes of this.#framing.push(chunk)) this.#receive(bytes);
    });
    // A client that leaves early is no fault of the switch.
    stream.on('error', () => undefined);
  }

  report(event: ReportedEvent): void {
    if (this.#events.includes(event.type)) this.#send(0, event);
  }

  get isMonitoring(): boolean {
    return this.#isMonitoring;
  }

  /** One message for each: many may not fit into one. */
  reportChanges(changes: readonly FlowChange[]): void {
    for (const change of changes) this.#send(0, { type: 'flow_changes', changes: [change] });
  }

  end(): void {
    this.#stream.destroy();
  }

  #send(xid: number, message: Message): void {
    this.#stream.write(encodeMessage({ xid, message }));
  }

  #receive(request: Buffer): void {
    const xid = request.readUInt32BE(4);
    try {
      this.#handle(xid, decodeMessage(request).message, request);
    } catch (error) {
      this.#send(xid, refusalMessage(error, request));
    }
  }

  #handle(xid: number, message: Message, request: Buffer): void {
    switch (message.type) {
      case 'hello':
        return this.#send(0, { type: 'hello' });
      case 'echo_request':
        return this.#send(xid, { type: 'echo_reply', data: message.data });
      case 'features_request':
        return this.#send(xid, { type: 'features_reply', ...this.#switch.features });
      case 'barrier_request':
        return this.#send(xid, { type: 'barrier_reply' });
      case 'set_async':
        this.#events = message.events;
        return;
      case 'flow_monitor':
        this.#isMonitoring = message.command === 'add';
        return;
      case 'dump_request':
        for (const part of encodeDump(this.#switch.answerDump(message), xid)) this.#stream.write(part);
        return;
      case 'flow_mod':
      case 'group_mod':
      case 'meter_mod':
        return this.#switch.change(this, [message]);
      case 'packet_out':
        return this.#switch.sendPacket(message);
      case 'bundle_control':
        return this.#control(xid, message);
      case 'bundle_add':
        return this.#add(xid, message, request);
      default:
        throw new Refusal('OFPBRC_BAD_TYPE', `${message.type} is no request`);
    }
  }

  #control(xid: number, { bundle: id, step }: Of<'bundle_control'>): void {
    const bundle = this.#bundles.get(id);
    if (step === 'open') {
      refuseUnless(bundle === undefined, 'OFPBFC_BUNDLE_EXIST', `there is a bundle ${id}`);
      this.#bundles.set(id, { changes: [], isClosed: false });
      return this.#send(xid, { type: 'bundle_control', bundle: id, step: 'opened' });
    }
    if (bundle === undefined) throw new Refusal('OFPBFC_BAD_ID', `there is no bundle ${id}`);
    if (step === 'close') return this.#close(xid, id, bundle);
    this.#bundles.delete(id);
    if (step === 'commit') return this.#commit(xid, id, bundle);
    refuseUnless(step === 'discard', 'OFPBFC_BAD_TYPE', `${step} is no request`);
    this.#send(xid, { type: 'bundle_control', bundle: id, step: 'discarded' });
  }

  #close(xid: number, id: number, bundle: Bundle): void {
    refuseUnless(!bundle.isClosed, 'OFPBFC_BUNDLE_CLOSED', `bundle ${id} is closed`);
    bundle.isClosed = true;
    this.#send(xid, { type: 'bundle_control', bundle: id, step: 'closed' });
  }

  #add(xid: number, { bundle: id, change }: Of<'bundle_add'>, request: Buffer): void {
    const bundle = this.#bundles.get(id) ?? { changes: [], isClosed: false };
    refuseUnless(!bundle.isClosed, 'OFPBFC_BUNDLE_CLOSED', `bundle ${id} is closed`);
    this.#bundles.set(id, bundle);
    bundle.changes.push({ xid, change, request });
  }

  /** The error of the change that is refused goes in front of that of the bundle. */
  #commit(xid: number, id: number, { changes }: Bundle): void {
    this.#switch.change(
      this,
      changes.map(({ change }) => change),
      (index, error) => {
        const { xid: own, request } = changes[index]!;
        this.#send(own, refusalMessage(error, request));
        throw new Refusal('OFPBFC_MSG_FAILED', `change ${index} is refused`);
      },
    );
    this.#send(xid, { type: 'bundle_control', bundle: id, step: 'committed' });
  }
}
