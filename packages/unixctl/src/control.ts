/**
 * The control socket of a daemon of Open vSwitch or OVN, as ovs-appctl(8) uses it: JSON-RPC 1.0, where the method is a
 * command, the parameters are its arguments, and the result is a text for people.
 */
import { Connection, OvsdbError, openStream } from '@podwire/ovsdb/rpc';
import { longestTimer, systemClock, withDeadline } from '@podwire/platform';
import { ControlError, type ControlErrorCode } from './errors.js';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the call ends without an answer; 10 seconds when absent. */
  readonly timeout?: number | undefined;
}

export interface OpenOptions extends CallOptions {
  /** Longest answer, bytes; 16 MiB when absent. */
  readonly limit?: number | undefined;
}

/** A connection to a daemon. */
export interface Control {
  /**
   * Has a command carried out. The daemon does one at a time, and packets that no flow of the datapath takes wait meanwhile.
   * @returns the text that ovs-appctl(8) would print
   * @throws ControlError; the reason of the signal, after which the outcome is unknown
   */
  call(command: string, args?: readonly string[], options?: CallOptions): Promise<string>;
  close(): void;
}

const TIMEOUT = 10_000;
const LIMIT = 16 * 1024 * 1024;

/** An answer has the form `{"id":0,"result":"…","error":null}`. */
const DEPTH = 2;

/**
 * Connects to a control socket.
 * @param socket its path, see {@link findControlSocket}
 * @throws ControlError `NOT_SENT`, whose cause has the code of the system, `TIMEOUT`; the reason of the signal
 */
export async function openControl(socket: string, options: OpenOptions = {}): Promise<Control> {
  const { signal, timeout = TIMEOUT, limit = LIMIT } = options;
  const name = `unix:${socket}`;
  const open = (either: AbortSignal) => openStream(name, { signal: either });
  const reason = (): Error => new ControlError('TIMEOUT', `not connected to ${name} in ${timeout} ms`);
  const stream = await orControlError(() => withDeadline(signal, timeout, open, { reason }), signal);
  const connection = new Connection({
    ...{ stream, name, clock: systemClock },
    limits: { bytes: limit, depth: DEPTH, pending: 1_000, unsent: LIMIT },
    // The daemon does not know `echo`.
    probeInterval: 0,
    onNotification: () => undefined,
  });
  return new OpenControl(connection, timeout);
}

class OpenControl implements Control {
  readonly #connection: Connection;
  readonly #timeout: number;

  constructor(connection: Connection, timeout: number) {
    this.#connection = connection;
    this.#timeout = timeout;
  }

  async call(command: string, args: readonly string[] = [], options: CallOptions = {}): Promise<string> {
    const { signal, timeout = this.#timeout } = options;
    const read = (result: unknown): string => {
      if (typeof result === 'string') return result;
      throw new ControlError('PROTOCOL', `${command}: the answer is no text`);
    };
    const request = (either: AbortSignal): Promise<string> =>
      this.#connection.request(command, [...args], { timeout: longestTimer, signal: either, read });
    const reason = (): Error => new ControlError('TIMEOUT', `${command}: no answer in ${timeout} ms`);
    return orControlError(() => withDeadline(signal, timeout, request, { reason }), signal);
  }

  close(): void {
    this.#connection.close(new Error('the connection is closed'));
  }
}

/** Errors of the connection as those of this library. */
async function orControlError<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof OvsdbError)) throw error;
    if (error.cause instanceof ControlError) throw error.cause;
    throw new ControlError(codeOf(error), error.message.trimEnd(), { cause: error.cause });
  }
}

/** `TRANSACTION_FAILED` is of databases alone. */
function codeOf({ code }: OvsdbError): ControlErrorCode {
  return code === 'TRANSACTION_FAILED' ? 'OUTCOME_UNKNOWN' : code;
}
