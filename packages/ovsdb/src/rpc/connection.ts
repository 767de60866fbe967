import type { Duplex } from 'node:stream';
import { type Clock, onAbort, pause, withDeadline } from '@podwire/platform';
import { OvsdbError, ProtocolError } from '../errors.js';
import type { Json } from '../values.js';
import { JsonStream } from './json-stream.js';
import type { Limits } from './limits.js';
import { type Incoming, readError, readMessage } from './messages.js';

export interface ConnectionOptions {
  readonly stream: Duplex;
  /** Names the server in errors: `unix:/run/openvswitch/db.sock`. */
  readonly name: string;
  readonly clock: Pick<Clock, 'sleep' | 'elapsed'>;
  readonly limits: Limits;
  /** After so many milliseconds without a byte the server is asked for an echo, after twice as many it is gone; 0: never. */
  readonly probeInterval: number;
  /** Called in the order of the stream. An error that it throws ends the connection. */
  readonly onNotification: (method: string, params: unknown) => void;
}

export interface RequestOptions<T> {
  /** Milliseconds until the call ends without an answer. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
  /** Reads the result before the next message of the stream is. An error that it throws is that of the call. */
  readonly read: (result: unknown) => T;
}

interface Pending {
  readonly method: string;
  readonly answer: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** JSON-RPC on an open stream, from both sides. */
export class Connection {
  /** Resolves with the reason at the end of the connection. */
  readonly closed: Promise<Error>;
  readonly #options: ConnectionOptions;
  readonly #messages: JsonStream;
  readonly #pending = new Map<number, Pending>();
  readonly #over = new AbortController();
  #lastId = 0;
  #lastHeard: number;
  #hasAsked = false;

  constructor(options: ConnectionOptions) {
    const { stream, limits } = options;
    this.#options = options;
    this.#messages = new JsonStream(limits);
    this.#lastHeard = options.clock.elapsed();
    this.closed = new Promise((resolve) => void onAbort(this.#over.signal, resolve));
    stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    stream.on('error', (error) => this.close(error));
    stream.on('end', () => this.close(new Error('the server ended the connection')));
    stream.on('close', () => this.close(new Error('the connection was cut')));
    if (options.probeInterval > 0) void this.#probe(options.probeInterval);
  }

  get isOpen(): boolean {
    return !this.#over.signal.aborted;
  }

  /**
   * Sends a request and reads its answer. An aborted `transact` is also cancelled at the server, as far as it can be.
   * @throws OvsdbError `NOT_SENT`, `OUTCOME_UNKNOWN` (no answer in time, aborted, or the connection ended), `REFUSED`; before the
   *   request is sent, the signal's reason
   */
  async request<T>(method: string, params: Json, options: RequestOptions<T>): Promise<T> {
    options.signal?.throwIfAborted();
    this.#requireRoom(method);
    const id = ++this.#lastId;
    const answer = new Promise<T>((resolve, reject) => {
      const read = (result: unknown): void => resolve(options.read(result));
      this.#pending.set(id, { method, answer: read, reject });
    });
    this.#send({ id, method, params });
    const { timeout, signal } = options;
    const reason = (): Error => new Error(`no answer within ${timeout} ms`);
    return withDeadline(signal, timeout, (either) => this.#orAbandoned(id, answer, either), {
      clock: this.#options.clock,
      reason,
    });
  }

  /** Ends the connection. Requests without an answer end as `OUTCOME_UNKNOWN`. */
  close(reason: Error): void {
    if (!this.isOpen) return;
    this.#over.abort(reason);
    this.#options.stream.destroy();
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { method, reject } of pending) reject(this.#unknown(method, reason));
  }

  async #orAbandoned<T>(id: number, answer: Promise<T>, signal: AbortSignal): Promise<T> {
    const unsubscribe = onAbort(signal, (reason) => {
      const pending = this.#pending.get(id);
      if (pending === undefined) return;
      this.#pending.delete(id);
      // It may wait for a condition at the server, and must not be done later (RFC 7047, section 4.1.4).
      if (pending.method === 'transact') this.#send({ id: null, method: 'cancel', params: [id] });
      pending.reject(this.#unknown(pending.method, reason));
    });
    try {
      return await answer;
    } finally {
      unsubscribe();
    }
  }

  #requireRoom(method: string): void {
    const { limits, name, stream } = this.#options;
    const refuse = (why: string): OvsdbError =>
      new OvsdbError('NOT_SENT', `${method} was not sent to ${name}: ${why}`);
    if (!this.isOpen) throw refuse('the connection is closed');
    if (this.#pending.size >= limits.pending) throw refuse(`${limits.pending} requests have no answer yet`);
    if (stream.writableLength > limits.unsent) throw refuse('the server takes nothing any more');
  }

  #unknown(method: string, cause: Error): OvsdbError {
    const message = `${method} was sent to ${this.#options.name}, and its outcome is unknown: ${cause.message}`;
    return new OvsdbError('OUTCOME_UNKNOWN', message, { cause });
  }

  #send(message: Json): void {
    if (this.isOpen) this.#options.stream.write(JSON.stringify(message));
  }

  #receive(chunk: Buffer): void {
    this.#lastHeard = this.#options.clock.elapsed();
    this.#hasAsked = false;
    try {
      for (const json of this.#messages.read(chunk)) {
        this.#handle(readMessage(json));
        if (!this.isOpen) return;
      }
    } catch (error) {
      this.close(error as Error);
    }
  }

  #handle(message: Incoming): void {
    if (message.kind === 'answer') this.#accept(message.id, message.result, message.error);
    else if (message.kind === 'notification') this.#options.onNotification(message.method, message.params);
    else this.#reply(message.id as Json, message.method, message.params as Json);
  }

  /** The answer to a request that was abandoned is dropped. */
  #accept(id: unknown, result: unknown, error: unknown): void {
    const pending = this.#pending.get(id as number);
    if (pending === undefined) return;
    this.#pending.delete(id as number);
    if (error !== null) return pending.reject(readError(pending.method, error));
    try {
      pending.answer(result);
    } catch (failure) {
      pending.reject(failure as Error);
    }
  }

  #reply(id: Json, method: string, params: Json): void {
    const { limits, stream } = this.#options;
    if (stream.writableLength > limits.unsent)
      throw new ProtocolError('the server asks and does not read answers');
    if (method === 'echo') this.#send({ id, result: params ?? [], error: null });
    else this.#send({ id, result: null, error: 'unknown method' });
  }

  async #probe(interval: number): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      const silence = clock.elapsed() - this.#lastHeard;
      const rest = (this.#hasAsked ? 2 : 1) * interval - silence;
      if (rest > 0) {
        if (!(await pause(clock, rest, this.#over.signal))) return;
      } else if (this.#hasAsked) return this.close(new Error(`the server was silent for ${2 * interval} ms`));
      else {
        this.#send({ id: 'probe', method: 'echo', params: [] });
        this.#hasAsked = true;
      }
    }
  }
}
