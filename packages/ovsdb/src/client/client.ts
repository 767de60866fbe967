import { orUndefined } from '@podwire/platform';
import { Cache, type CacheIndexes, type MonitorRequest } from '../cache/cache.js';
import type { IndexFunctions } from '../cache/indexes.js';
import { Monitor, type TableRequests } from '../cache/monitor.js';
import { OvsdbError } from '../errors.js';
import type { DatabaseSchema } from '../schema.js';
import { encodeOperation } from '../transaction/encode.js';
import { readResults } from '../transaction/results.js';
import type { AnyDatabase, DatabaseTypes, Operation, Results } from '../transaction/types.js';
import { type CallOptions, type ClientState, Link } from './link.js';
import { type ClientOptions, completeOptions, type Settings } from './options.js';

const isOvsdbError = (error: unknown): boolean => error instanceof OvsdbError;

/** A client of one database. It connects by itself, again and again, until it is closed. */
export class OvsdbClient<D extends DatabaseTypes = AnyDatabase> {
  readonly #settings: Settings;
  readonly #link: Link;
  readonly #monitors = new Map<string, Monitor>();
  #lastMonitor = 0;

  /** @throws TypeError: there is no endpoint */
  constructor(options: ClientOptions) {
    this.#settings = completeOptions(options);
    this.#link = new Link(this.#settings, this.#monitors);
  }

  get state(): ClientState {
    return this.#link.state;
  }

  /** Calls the listener at each change of {@link state}. An error that it throws is logged. @returns how to unsubscribe */
  subscribe(listener: (state: ClientState) => void): () => void {
    return this.#link.subscribe(listener);
  }

  /** The database's schema, as the server has it. @throws OvsdbError `NOT_SENT`: there is no connection in time */
  async schema(options: CallOptions = {}): Promise<DatabaseSchema> {
    return (await this.#link.connected(options)).schema;
  }

  /**
   * Carries out all operations or none. Waits for a connection first.
   * @throws TransactionError; OvsdbError `NOT_SENT`, `OUTCOME_UNKNOWN`; TypeError, RangeError: an operation does not fit the schema
   */
  async transact<const Operations extends readonly Operation<D>[]>(
    operations: Operations,
    options: CallOptions = {},
  ): Promise<Results<D, Operations>> {
    const { database, clock } = this.#settings;
    const { timeout = this.#settings.timeout, signal } = options;
    const begin = clock.elapsed();
    const { connection, schema } = await this.#link.connected(options);
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
    const { clock, log, database, timeout } = this.#settings;
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
    return new Cache({ monitor, clock, timeout, close: () => this.#stopMonitor(id) });
  }

  /** Ends the connection. Calls that are under way end as `OUTCOME_UNKNOWN`. */
  async close(): Promise<void> {
    await this.#link.close();
  }

  /** On the next connection, when one ends meanwhile: nothing is lost by asking again. */
  async #begin(monitor: Monitor, { signal, timeout = this.#settings.timeout }: CallOptions): Promise<void> {
    const { clock } = this.#settings;
    const end = clock.elapsed() + timeout;
    for (;;) {
      const rest = { signal, timeout: Math.max(0, end - clock.elapsed()) };
      const { connection, schema } = await this.#link.connected(rest);
      try {
        return await monitor.attach(connection, schema, rest);
      } catch (error) {
        if (!(error instanceof OvsdbError) || error.code === 'REFUSED' || connection.isOpen) throw error;
      }
    }
  }

  async #stopMonitor(id: string): Promise<void> {
    const connection = this.#link.session?.connection;
    if (!this.#monitors.delete(id) || connection === undefined) return;
    const { timeout } = this.#settings;
    const read = (): void => undefined;
    // The end of the connection is the end of its monitors.
    await orUndefined(connection.request('monitor_cancel', [id], { timeout, read }), isOvsdbError);
  }
}
