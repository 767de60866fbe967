import { backoffDelay, onAbort, orUndefined, pause, waitUntil, withDeadline } from '@podwire/platform';
import { Cache, type CacheIndexes, type MonitorRequest } from '../cache/cache.js';
import type { IndexFunctions } from '../cache/indexes.js';
import { Monitor, type TableRequests } from '../cache/monitor.js';
import { OvsdbError } from '../errors.js';
import type { DatabaseSchema } from '../schema.js';
import { encodeOperation } from '../transaction/encode.js';
import { readResults } from '../transaction/results.js';
import type { AnyDatabase, DatabaseTypes, Operation, Results } from '../transaction/types.js';
import { type ClientOptions, completeOptions, type Settings } from './options.js';
import { openSession, type Session } from './session.js';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; that of the client when absent. */
  readonly timeout?: number | undefined;
}

/** The connection of a client now. */
export type ClientState =
  | { readonly connected: true; readonly endpoint: string }
  /** With the reason for which there is none, if one was tried. */
  | { readonly connected: false; readonly reason: Error | undefined };

const isOvsdbError = (error: unknown): boolean => error instanceof OvsdbError;
const closedError = (): OvsdbError => new OvsdbError('NOT_SENT', 'the client is closed');

/** A client of one database. It connects by itself, again and again, until it is closed. */
export class OvsdbClient<D extends DatabaseTypes = AnyDatabase> {
  readonly #options: Settings;
  readonly #monitors = new Map<string, Monitor>();
  readonly #listeners = new Set<(state: ClientState) => void>();
  readonly #over = new AbortController();
  readonly #loop: Promise<void>;
  #session: Session | undefined;
  #reason: Error | undefined;
  #lastMonitor = 0;

  constructor(options: ClientOptions) {
    this.#options = completeOptions(options);
    this.#loop = this.#stayConnected();
  }

  get state(): ClientState {
    return this.#session === undefined
      ? { connected: false, reason: this.#reason }
      : { connected: true, endpoint: this.#session.endpoint };
  }

  /** Calls the listener at each change of {@link state}. An error that it throws is logged. @returns how to unsubscribe */
  subscribe(listener: (state: ClientState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The database's schema, as the server has it. @throws OvsdbError `NOT_SENT`: there is no connection in time */
  async schema(options: CallOptions = {}): Promise<DatabaseSchema> {
    return (await this.#connected(options)).schema;
  }

  /**
   * Carries out all operations or none. Waits for a connection first.
   * @throws TransactionError; OvsdbError `NOT_SENT`, `OUTCOME_UNKNOWN`; TypeError, RangeError: an operation does not fit the schema
   */
  async transact<const Operations extends readonly Operation<D>[]>(
    operations: Operations,
    options: CallOptions = {},
  ): Promise<Results<D, Operations>> {
    const { database, clock } = this.#options;
    const { timeout = this.#options.timeout, signal } = options;
    const begin = clock.elapsed();
    const { connection, schema } = await this.#connected(options);
    const untyped = operations as readonly unknown[] as readonly Operation[];
    const encoded = untyped.map((operation) => encodeOperation(operation, schema));
    const results = await connection.request('transact', [database, ...encoded], {
      timeout: Math.max(0, timeout - (clock.elapsed() - begin)),
      signal,
      read: (result) => readResults(result, untyped, schema),
    });
    return results as unknown as Results<D, Operations>;
  }

  /**
   * Follows tables, over all connections. Resolves with their first content.
   * @throws OvsdbError, the signal's reason; TypeError, RangeError: the request does not fit the schema
   */
  async monitor<const M extends MonitorRequest<D>>(
    tables: M,
    { indexes, ...options }: CallOptions & { readonly indexes?: CacheIndexes<D, M> } = {},
  ): Promise<Cache<D, M>> {
    const { clock, log, database, timeout } = this.#options;
    const id = `monitor-${++this.#lastMonitor}`;
    const monitor = new Monitor({
      id,
      database,
      tables: tables as TableRequests,
      indexes: (indexes ?? {}) as unknown as IndexFunctions,
      log,
    });
    this.#monitors.set(id, monitor);
    try {
      await this.#begin(monitor, options);
    } catch (error) {
      this.#monitors.delete(id);
      throw error;
    }
    const close = (): Promise<void> => this.#stopMonitor(monitor);
    return new Cache({ monitor, clock, timeout, close });
  }

  /** Ends the connection. Calls that are under way end as `OUTCOME_UNKNOWN`. */
  async close(): Promise<void> {
    this.#over.abort(closedError());
    await this.#loop;
  }

  /** On the next connection, when one ends meanwhile: nothing is lost by asking again. */
  async #begin(monitor: Monitor, { signal, timeout = this.#options.timeout }: CallOptions): Promise<void> {
    const { clock } = this.#options;
    const end = clock.elapsed() + timeout;
    for (;;) {
      const rest = { signal, timeout: Math.max(0, end - clock.elapsed()) };
      const { connection, schema } = await this.#connected(rest);
      try {
        return await monitor.attach(connection, schema, rest);
      } catch (error) {
        if (!(error instanceof OvsdbError) || error.code === 'REFUSED' || connection.isOpen) throw error;
      }
    }
  }

  async #stopMonitor({ options: { id } }: Monitor): Promise<void> {
    if (!this.#monitors.delete(id) || this.#session === undefined) return;
    const { timeout } = this.#options;
    const read = (): void => undefined;
    const { connection } = this.#session;
    // The end of the connection is the end of its monitors.
    await orUndefined(connection.request('monitor_cancel', [id], { timeout, read }), isOvsdbError);
  }

  async #connected({ signal, timeout = this.#options.timeout }: CallOptions): Promise<Session> {
    const { clock, endpoints } = this.#options;
    const reason = (): Error => {
      const cause = this.#over.signal.aborted ? closedError() : this.#reason;
      const message = `no connection to ${endpoints.join(', ')} within ${timeout} ms: ${cause?.message}`;
      return new OvsdbError('NOT_SENT', message, { cause });
    };
    if (this.#over.signal.aborted) throw closedError();
    const wait = (either: AbortSignal): Promise<void> =>
      waitUntil(
        () => this.#session !== undefined || this.#over.signal.aborted,
        (listener) => this.subscribe(listener),
        either,
      );
    await withDeadline(signal, timeout, wait, { clock, reason });
    if (this.#session === undefined) throw closedError();
    return this.#session;
  }

  async #stayConnected(): Promise<void> {
    const { endpoints, backoff, clock, random, log } = this.#options;
    const { signal } = this.#over;
    for (let attempt = 0, failures = 0; !signal.aborted; attempt++) {
      const endpoint = endpoints[attempt % endpoints.length]!;
      const begin = clock.elapsed();
      this.#reason = await this.#useEndpoint(endpoint);
      this.#set(undefined);
      log.debug({ endpoint, err: this.#reason }, 'no connection to the database');
      // A connection that lasted is no failure; one that ended at once is.
      failures = clock.elapsed() - begin > backoff.longest ? 1 : failures + 1;
      if (failures % endpoints.length !== 0) continue;
      const delay = backoffDelay(failures / endpoints.length, backoff);
      await pause(clock, delay * (1 - random() / 2), signal);
    }
    this.#set(undefined);
  }

  /** Connects, and stays. @returns the reason for which it ended */
  async #useEndpoint(endpoint: string): Promise<Error> {
    const { connectTimeout, clock } = this.#options;
    const reason = (): Error => new Error(`not connected within ${connectTimeout} ms`);
    try {
      const open = (signal: AbortSignal): Promise<Session> => this.#openSession(endpoint, signal);
      const session = await withDeadline(this.#over.signal, connectTimeout, open, { clock, reason });
      const unsubscribe = onAbort(this.#over.signal, (why) => session.connection.close(why));
      this.#options.log.info({ endpoint }, 'connected to the database');
      if (session.connection.isOpen) this.#set(session);
      const end = await session.connection.closed;
      unsubscribe();
      return end;
    } catch (error) {
      return error as Error;
    }
  }

  async #openSession(endpoint: string, signal: AbortSignal): Promise<Session> {
    const stream = await this.#options.open(endpoint, signal);
    const options = { ...this.#options, endpoint, stream, monitors: this.#monitors };
    return openSession({ ...options, timeout: this.#options.connectTimeout }, signal);
  }

  #set(session: Session | undefined): void {
    this.#session = session;
    if (session === undefined) for (const monitor of this.#monitors.values()) monitor.detach();
    for (const listener of [...this.#listeners])
      try {
        listener(this.state);
      } catch (error) {
        this.#options.log.error({ err: error }, 'a listener of a client has failed');
      }
  }
}
