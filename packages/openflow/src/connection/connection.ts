import type { Duplex } from 'node:stream';
import { AsyncQueue, compact, orAborted, withDeadline } from '@podwire/platform';
import { Writer } from '../codec/bytes.js';
import { FLOW_MONITOR } from '../codec/constants.js';
import { decodeMessage, encodeMessage, writeMessage } from '../codec/message.js';
import { OpenFlowError } from '../errors.js';
import type { FlowSelector } from '../flow.js';
import type { MeterMod } from '../group.js';
import type { Change, DumpKind, Dumps, Envelope, Message } from '../message.js';
import type { Features, PacketOut, SwitchEvent } from '../port-description.js';
import { type Call, carefulBundle, controlBundle, dumpRequests, eagerBundle, isBarrier } from './calls.js';
import { Exchange } from './exchange.js';
import { Framing } from './framing.js';
import type { BundleOptions, RequestOptions, SwitchConnection } from './switch-connection.js';
import { failureOf, SwitchError } from './switch-error.js';

/** Bytes that are encoded before the socket gets them. */
const CHUNK = 64 * 1024;
const LAST_XID = 0xffff_ffff;
/** A dump of more entries than this is refused. */
const MOST_ENTRIES = 1_000_000;
/** Events that wait to be taken; beyond that their reader has failed. */
const MOST_EVENTS = 10_000;
/** Types of messages that answer a request: of features, barriers and bundles; and lists, which may be reports too. */
const ANSWERS = [6, 21, 33];
const LIST = 19;
/** Type of the error of a switch that speaks no version of ours. */
const HELLO_FAILED = 0;

/** The protocol over a stream. `start` must have resolved before anything else is called. */
export class StreamConnection implements SwitchConnection {
  readonly closed: Promise<Error | undefined>;
  readonly #stream: Duplex;
  readonly #timeout: number;
  readonly #framing = new Framing();
  readonly #open = new Set<Exchange>();
  #features: Features | undefined;
  #xid = 0;
  #bundle = 0;
  #events: AsyncQueue<SwitchEvent> | undefined;
  #isMonitoring = false;
  #end: { readonly error: Error | undefined } | undefined;
  #onEnd: (error: Error | undefined) => void = () => undefined;
  /** Resolves when what was written before is written. */
  #written: Promise<void> = Promise.resolve();

  constructor(stream: Duplex, timeout: number) {
    this.#stream = stream;
    this.#timeout = timeout;
    this.closed = new Promise((resolve) => (this.#onEnd = resolve));
    stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    stream.on('error', (error) => this.#finish(error));
    stream.on('close', () =>
      this.#finish(new OpenFlowError('ECONNRESET', 'the switch closed the connection')),
    );
  }

  /** Greets the switch and asks who it is. @throws OpenFlowError, SwitchError when it speaks no OpenFlow 1.4 */
  async start(options: RequestOptions): Promise<void> {
    const onReply = (message: Message): boolean => {
      if (message.type !== 'features_reply') return false;
      this.#features = { datapathId: message.datapathId, tables: message.tables };
      return true;
    };
    const messages: Message[] = [{ type: 'hello' }, { type: 'features_request' }];
    await this.#exchange({ what: 'greet the switch', messages, onReply }, options);
  }

  get features(): Features {
    if (this.#features === undefined) throw new OpenFlowError('ENOTCONN', 'the switch is not greeted yet');
    return this.#features;
  }

  async applyBundle(
    changes: readonly Change[],
    { guard, eager = false, onSent, ...options }: BundleOptions = {},
  ): Promise<void> {
    if (changes.length === 0) return guard?.();
    const bundle = (this.#bundle = (this.#bundle % LAST_XID) + 1);
    const call = eager && guard === undefined ? eagerBundle(bundle, changes) : carefulBundle(bundle, changes);
    try {
      await this.#exchange({ ...call, ...compact({ guard, onSent }) }, options);
    } catch (error) {
      // A switch keeps a bundle that is not committed for as long as the connection lives.
      this.#post(controlBundle(bundle, 'discard'));
      throw error;
    }
  }

  async send(
    requests: readonly (Change | MeterMod | PacketOut)[],
    options: RequestOptions = {},
  ): Promise<void> {
    const messages: Message[] = [...requests, { type: 'barrier_request' }];
    await this.#exchange({ what: 'send requests', messages, onReply: isBarrier }, options);
  }

  async barrier(options: RequestOptions = {}): Promise<void> {
    await this.send([], options);
  }

  async dump<Kind extends DumpKind>(
    kind: Kind,
    selector?: FlowSelector | readonly FlowSelector[],
    options: RequestOptions = {},
  ): Promise<Dumps[Kind][]> {
    const entries: Dumps[Kind][] = [];
    const messages = dumpRequests(kind, selector);
    if (messages.length === 0) return entries;
    let left = messages.length;
    const onReply = (message: Message, hasFailed: boolean): boolean => {
      if (message.type !== 'dump_reply' || message.kind !== kind) return false;
      if (entries.length + message.entries.length > MOST_ENTRIES)
        throw new OpenFlowError('EMSGSIZE', `dump ${kind}: more than ${MOST_ENTRIES} entries`);
      for (const entry of message.entries) entries.push(entry as Dumps[Kind]);
      if (!message.more) left -= 1;
      return left === 0 || (hasFailed && !message.more);
    };
    await this.#exchange({ what: `dump ${kind}`, messages, onReply }, options);
    return entries;
  }

  async watch(
    types: readonly SwitchEvent['type'][],
    options: RequestOptions = {},
  ): Promise<AsyncIterable<SwitchEvent>> {
    this.#events?.end();
    const events = (this.#events = new AsyncQueue<SwitchEvent>());
    const isWanted = types.includes('flow_change');
    const monitor: Message = { type: 'flow_monitor', command: isWanted ? 'add' : 'delete' };
    const messages: Message[] = [
      { type: 'set_async', events: types },
      ...(isWanted === this.#isMonitoring ? [] : [monitor]),
      { type: 'barrier_request' },
    ];
    await this.#exchange({ what: 'choose events', messages, onReply: isBarrier }, options);
    this.#isMonitoring = isWanted;
    return events;
  }

  close(): void {
    this.#finish(undefined);
  }

  /** Sends messages under transaction ids in a row, and waits for the end of the answers. */
  async #exchange(call: Call, options: RequestOptions): Promise<void> {
    const { what } = call;
    const milliseconds = options.timeout ?? this.#timeout;
    const reason = (): Error => new OpenFlowError('ETIMEDOUT', `${what}: no answer in ${milliseconds} ms`);
    const work = async (signal: AbortSignal): Promise<void> => {
      signal.throwIfAborted();
      this.#requireOpen();
      const exchange = this.#begin(call);
      try {
        const written = this.#write(call, exchange.first, signal);
        await orAborted(Promise.all([written, exchange.done]), signal);
      } finally {
        this.#open.delete(exchange);
      }
    };
    await withDeadline(options.signal, milliseconds, work, { reason });
  }

  #begin({ messages, last, isReadyForLast, guard, ...plan }: Call): Exchange {
    const count = messages.length + (last === undefined ? 0 : 1);
    const first = this.#number(count);
    const allowed = guard?.() ?? Promise.resolve();
    const onReply = (message: Message, hasFailed: boolean): boolean => {
      if (last !== undefined && isReadyForLast?.(message, hasFailed))
        allowed.then(() => this.#sendLast(exchange, last), ignore);
      return plan.onReply(message, hasFailed);
    };
    const exchange: Exchange = new Exchange({ ...plan, first, count, onReply });
    allowed.catch((error: Error) => exchange.reject(error));
    this.#open.add(exchange);
    return exchange;
  }

  /** Not for a caller that has left: its bundle is discarded. */
  #sendLast(exchange: Exchange, message: Message): void {
    if (this.#open.has(exchange)) this.#stream.write(encodeMessage({ xid: exchange.last, message }));
  }

  #requireOpen(): void {
    if (this.#end !== undefined) throw this.#end.error ?? closedError();
  }

  /** The first of `count` transaction ids in a row. */
  #number(count: number): number {
    const first = this.#xid + count > LAST_XID ? 1 : this.#xid + 1;
    this.#xid = first + count - 1;
    return first;
  }

  /** Writes messages behind those of earlier calls, as fast as the switch takes them. */
  async #write({ messages, onSent }: Call, first: number, signal: AbortSignal): Promise<void> {
    const turn = this.#written;
    let release = (): void => undefined;
    this.#written = new Promise((resolve) => (release = resolve));
    try {
      await turn;
      for (const chunk of encodeChunks(messages, first)) {
        if (signal.aborted || this.#end !== undefined) return;
        if (!this.#stream.write(chunk)) await drained(this.#stream);
      }
      // The stream may hold back what it has taken.
      if (onSent !== undefined) this.#stream.write('', onSent);
    } finally {
      release();
    }
  }

  /** Writes a message whose answer nothing waits for. */
  #post(message: Message): void {
    if (this.#end === undefined) this.#stream.write(encodeMessage({ xid: this.#number(1), message }));
  }

  #receive(chunk: Buffer): void {
    try {
      for (const bytes of this.#framing.push(chunk)) this.#dispatch(bytes);
    } catch (error) {
      this.#finish(error as Error);
    }
  }

  #find(xid: number): Exchange | undefined {
    for (const exchange of this.#open) if (exchange.owns(xid)) return exchange;
    return undefined;
  }

  /**
   * An answer that cannot be read fails its request; the rest of it is not read. An event that cannot be read ends the
   * connection: to lose one in silence would be worse.
   * @throws DecodeError
   */
  #dispatch(bytes: Buffer): void {
    const owner = this.#find(bytes.readUInt32BE(4));
    if (owner === undefined && isAnswer(bytes)) return;
    try {
      this.#accept(decodeMessage(bytes), owner);
    } catch (error) {
      if (owner === undefined) throw error;
      this.#open.delete(owner);
      owner.reject(error as Error);
    }
  }

  #accept({ xid, message }: Envelope, owner: Exchange | undefined): void {
    switch (message.type) {
      case 'echo_request':
        return void this.#stream.write(
          encodeMessage({ xid, message: { type: 'echo_reply', data: message.data } }),
        );
      case 'port_status':
      case 'packet_in':
      case 'flow_removed':
        return this.#report(message);
      case 'flow_changes':
        return message.changes.forEach((change) => this.#report(change));
      case 'hello':
        return;
      default:
        if (owner !== undefined) owner.accept(xid, message);
        else if (message.type === 'error' && message.error.type === HELLO_FAILED)
          this.#finish(new SwitchError('greet the switch', [failureOf(-1, message.error)]));
    }
  }

  #report(event: SwitchEvent): void {
    const events = this.#events;
    if (events === undefined) return;
    if (events.length < MOST_EVENTS) events.push(event);
    else events.fail(new OpenFlowError('EOVERFLOW', `${MOST_EVENTS} events wait to be taken`));
  }

  #finish(error: Error | undefined): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    this.#stream.destroy();
    for (const exchange of this.#open) exchange.reject(error ?? closedError());
    if (error === undefined) this.#events?.end();
    else this.#events?.fail(error);
    this.#onEnd(error);
  }
}

const ignore = (): void => undefined;

const closedError = (): OpenFlowError => new OpenFlowError('ENOTCONN', 'the connection is closed');

/** Whole messages, in pieces of about {@link CHUNK} bytes that are encoded when they are taken. */
function* encodeChunks(messages: readonly Message[], first: number): Iterable<Buffer> {
  let writer = new Writer(CHUNK + 1024);
  for (const [index, message] of messages.entries()) {
    writeMessage(writer, message, first + index);
    if (writer.length < CHUNK) continue;
    yield writer.finish();
    writer = new Writer(CHUNK + 1024);
  }
  if (writer.length > 0) yield writer.finish();
}

/** Resolves when a stream takes more, or has ended. */
function drained(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      stream.off('drain', end).off('close', end);
      resolve();
    };
    stream.once('drain', end).once('close', end);
  });
}

function isAnswer(bytes: Buffer): boolean {
  const type = bytes.readUInt8(1);
  const isReport = type === LIST && bytes.length >= 10 && bytes.readUInt16BE(8) === FLOW_MONITOR;
  return ANSWERS.includes(type) || (type === LIST && !isReport);
}
