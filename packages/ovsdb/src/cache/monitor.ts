/** One monitor of a client, over all of its connections. */
import type { Log } from '@podwire/platform';
import { isUuid, type Row } from '../decode.js';
import { RefusedError, unexpected } from '../errors.js';
import type { Connection, RequestOptions } from '../rpc/connection.js';
import { type DatabaseSchema, findColumn } from '../schema.js';
import { encodeWhere } from '../transaction/encode.js';
import type { AnyDatabase, Condition } from '../transaction/types.js';
import type { Json } from '../values.js';
import { zeroUuid } from './difference.js';
import { type IndexFunctions, Indexes, type IndexKey } from './indexes.js';
import { type Change, type FollowedTable, Replica } from './replica.js';

export interface TableRequest {
  readonly columns?: readonly string[] | undefined;
  readonly where?: readonly Condition<AnyDatabase[string]['values']>[] | undefined;
}

export type TableRequests = { readonly [table: string]: TableRequest | undefined };

/**
 * - `initial`: the first content
 * - `update`: a transaction has changed rows
 * - `resumed`: after a disconnect, the server knew the last transaction and sent what came after it
 * - `purged`: after a disconnect, the server sent everything anew; the changes are how it differs
 */
export type Cause = 'initial' | 'update' | 'resumed' | 'purged';

/** Changes that were seen together. */
export interface CacheEvent<R = Row> {
  readonly cause: Cause;
  readonly changes: readonly Change<R>[];
}

export interface MonitorOptions {
  readonly id: string;
  readonly database: string;
  readonly tables: TableRequests;
  readonly indexes: IndexFunctions;
  readonly log: Log;
}

export type AttachOptions = Omit<RequestOptions<never>, 'read'>;

export class Monitor {
  readonly options: MonitorOptions;
  readonly #indexes: Indexes;
  readonly #listeners = new Set<(event: CacheEvent) => void>();
  #replica: Replica | undefined;
  #followed = '';
  /** The zero uuid when the content cannot be continued: then all of it is asked for. */
  #lastTransaction = zeroUuid;
  #isCurrent = false;

  constructor(options: MonitorOptions) {
    this.options = options;
    this.#indexes = new Indexes(options.indexes);
  }

  /** False while there is no connection: the rows are those of its end. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  get hasContent(): boolean {
    return this.#replica !== undefined;
  }

  rows(table: string): ReadonlyMap<string, Row> {
    if (this.#replica === undefined) throw new Error('the monitor has no content yet');
    return this.#replica.rows(table);
  }

  find(table: string, index: string, key: IndexKey): readonly Row[] {
    const rows = this.rows(table);
    return Array.from(this.#indexes.find(table, index, key), (uuid) => rows.get(uuid)!);
  }

  subscribe(listener: (event: CacheEvent) => void): () => void {
    const own = (event: CacheEvent): void => listener(event);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Follows the database over this connection. @throws TypeError: the schema does not have the request; OvsdbError */
  async attach(connection: Connection, schema: DatabaseSchema, options: AttachOptions): Promise<void> {
    const { id, database, tables } = this.options;
    const followed = followTables(tables, schema);
    // After a change of the schema the rows of before do not fit.
    const description = describeFollowed(followed);
    if (description !== this.#followed) this.#lastTransaction = zeroUuid;
    const read = (result: unknown): void => {
      this.#synchronise(result, followed);
      this.#followed = description;
    };
    const requests = encodeRequests(tables, followed);
    const parameters = [database, id, requests, this.#lastTransaction];
    try {
      await connection.request('monitor_cond_since', parameters, { ...options, read });
    } catch (error) {
      if (!(error instanceof RefusedError) || error.error !== 'unknown method') throw error;
      // Before Open vSwitch 2.12.
      const readAll = (result: unknown): void => read([false, zeroUuid, result]);
      await connection.request('monitor_cond', [database, id, requests], { ...options, read: readAll });
    }
  }

  /** Takes a notification that has this monitor's id. @throws ProtocolError: the next connection asks for everything */
  receive(method: string, parameters: readonly unknown[]): void {
    if (method === 'update3') this.#update(parameters[2], requireUuid(parameters[1]));
    else if (method === 'update2') this.#update(parameters[1], zeroUuid);
    else throw unexpected('the monitor', 'an update', method);
  }

  /** Notes that the connection is gone. */
  detach(): void {
    this.#isCurrent = false;
  }

  #synchronise(result: unknown, followed: ReadonlyMap<string, FollowedTable>): void {
    if (!Array.isArray(result) || result.length !== 3)
      throw unexpected('the monitor', 'three results', result);
    const [found, transaction, updates] = result as readonly unknown[];
    const lastTransaction = requireUuid(transaction);
    const isResumed = found === true && this.#replica !== undefined;
    const cause = isResumed ? 'resumed' : this.#replica === undefined ? 'initial' : 'purged';
    const replica = this.#replica ?? new Replica(followed);
    // Until the updates have been applied: what does not fit must not be asked for again.
    this.#lastTransaction = zeroUuid;
    const changes = isResumed ? replica.apply(updates) : replica.replace(updates, followed);
    this.#replica = replica;
    this.#lastTransaction = lastTransaction;
    this.#isCurrent = true;
    this.#publish({ cause, changes });
  }

  #update(updates: unknown, transaction: string): void {
    const before = this.#lastTransaction;
    this.#lastTransaction = zeroUuid;
    if (this.#replica === undefined) throw unexpected('the monitor', 'its content first', before);
    const changes = this.#replica.apply(updates);
    this.#lastTransaction = transaction;
    this.#publish({ cause: 'update', changes });
  }

  #publish(event: CacheEvent): void {
    this.#indexes.apply(event.changes);
    for (const listener of [...this.#listeners])
      try {
        listener(event);
      } catch (error) {
        this.options.log.error({ err: error }, 'a listener of a cache has failed');
      }
  }
}

function requireUuid(json: unknown): string {
  if (!isUuid(json)) throw unexpected('the monitor', 'the id of a transaction', json);
  return json;
}

function followTables(tables: TableRequests, schema: DatabaseSchema): ReadonlyMap<string, FollowedTable> {
  const entries = Object.entries(tables).flatMap(([name, request]): [string, FollowedTable][] => {
    if (request === undefined) return [];
    const table = schema.tables.get(name);
    if (table === undefined) throw new TypeError(`the database ${schema.name} has no table ${name}`);
    const columns = (request.columns ?? [...table.columns.keys()]).filter((column) => column !== '_uuid');
    for (const column of columns)
      if (findColumn(table, column) === undefined)
        throw new TypeError(`the table ${name} has no column ${column}`);
    return [[name, { schema: table, columns }]];
  });
  return new Map(entries);
}

const describeFollowed = (followed: ReadonlyMap<string, FollowedTable>): string =>
  JSON.stringify(
    Array.from(followed, ([name, { schema, columns }]) => [
      name,
      columns.map((column) => [column, findColumn(schema, column)]),
    ]),
  );

function encodeRequests(tables: TableRequests, followed: ReadonlyMap<string, FollowedTable>): Json {
  const entries = Array.from(followed, ([name, { schema, columns }]): [string, Json] => {
    const where = tables[name]?.where;
    const place = { table: schema, name: `monitor: table ${name}` };
    return [name, [{ columns, ...(where && { where: encodeWhere(where, place) }) }]];
  });
  return Object.fromEntries(entries);
}
