/** One connection to the in-memory server. */
import type { Duplex } from 'node:stream';
import type { Clock } from '@podwire/platform';
import { zeroUuid } from '../cache/difference.js';
import { JsonStream } from '../rpc/json-stream.js';
import { defaultLimits } from '../rpc/limits.js';
import { readMessage } from '../rpc/messages.js';
import type { Json } from '../values.js';
import type { Commit, Database } from './database.js';
import { Failure, syntaxError } from './failure.js';
import { type FakeMonitor, readTables, writeChanges, writeInitial } from './monitors.js';
import { Waiting } from './waiting.js';

export interface ServedDatabase {
  readonly database: Database;
  /** As it was given, for `get_schema`. */
  readonly schema: Json;
}

export interface SessionOptions {
  readonly stream: Duplex;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly databases: () => ReadonlyMap<string, ServedDatabase>;
  /** Methods that this server does not have, as an older one. */
  readonly unknownMethods: () => ReadonlySet<string>;
  /** True while the server reads and does not answer. */
  readonly isSilent: () => boolean;
  /** Called with what a transaction of this connection has changed, before its answer. */
  readonly onCommit: (database: Database, commit: Commit) => void;
}

type Params = readonly unknown[];

export class FakeSession {
  readonly #options: SessionOptions;
  readonly #messages = new JsonStream(defaultLimits);
  readonly #monitors = new Map<string, FakeMonitor>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #methods = new Map<string, (params: Params, id: Json) => Json | undefined>([
    ['echo', (params) => params as readonly Json[]],
    ['list_dbs', () => [...this.#options.databases().keys()]],
    ['get_schema', ([name]) => this.#database(name).schema],
    ['set_db_change_aware', () => ({})],
    ['transact', ([name, ...rest], id) => this.#transact(this.#database(name).database, rest, id)],
    ['cancel', ([id]) => this.#cancel(id)],
    ['monitor_cond', (params) => this.#monitor('update2', params)],
    ['monitor_cond_since', (params) => this.#monitor('update3', params)],
    ['monitor_cancel', ([id]) => this.#cancelMonitor(id)],
  ]);

  constructor(options: SessionOptions) {
    this.#options = options;
    const { stream } = options;
    stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    stream.on('error', () => this.close());
    stream.on('end', () => this.close());
    stream.on('close', () => this.close());
  }

  /** Writes a text as it is. */
  write(text: string): void {
    this.#options.stream.write(text);
  }

  close(): void {
    for (const waiting of this.#waiting.values()) waiting.cancel();
    this.#waiting.clear();
    this.#options.stream.destroy();
  }

  /** Reports a transaction to the monitors that follow its rows. */
  notify(database: Database, { id, changes }: Commit): void {
    for (const monitor of this.#monitors.values()) {
      const updates = monitor.database === database ? writeChanges(monitor, changes) : undefined;
      if (updates === undefined) continue;
      const params = monitor.method === 'update3' ? [monitor.id, id, updates] : [monitor.id, updates];
      this.#send({ id: null, method: monitor.method, params });
    }
  }

  /** Ends the monitors of a database that is replaced, and says so. */
  cancelMonitors(database: Database): void {
    for (const [key, monitor] of [...this.#monitors])
      if (monitor.database === database) {
        this.#monitors.delete(key);
        this.#send({ id: null, method: 'monitor_canceled', params: [monitor.id] });
      }
  }

  /** Tries the transactions again that wait for a condition. */
  retry(): void {
    for (const [id, waiting] of [...this.#waiting]) if (waiting.attempt()) this.#waiting.delete(id);
  }

  #send(message: Json): void {
    if (!this.#options.isSilent() && !this.#options.stream.destroyed) this.write(JSON.stringify(message));
  }

  #receive(chunk: Buffer): void {
    try {
      for (const json of this.#messages.read(chunk)) {
        const message = readMessage(json);
        if (message.kind === 'answer') continue;
        const id = message.kind === 'request' ? (message.id as Json) : null;
        this.#call(message.method, message.params, id);
      }
    } catch {
      // As the real server does with a client that does not keep to the protocol.
      this.close();
    }
  }

  #call(method: string, params: unknown, id: Json): void {
    try {
      const call = this.#options.unknownMethods().has(method) ? undefined : this.#methods.get(method);
      if (call === undefined) throw new Failure('unknown method', method);
      const result = call((params ?? []) as Params, id);
      if (id !== null && result !== undefined) this.#send({ id, result, error: null });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const isName = error.error === 'unknown method';
      if (id !== null) this.#send({ id, result: null, error: isName ? error.error : error.toJson() });
    }
  }

  #database(name: unknown): ServedDatabase {
    const served = this.#options.databases().get(String(name));
    if (served === undefined) throw new Failure('unknown database', `there is no database ${String(name)}`);
    return served;
  }

  #transact(database: Database, operations: Params, id: Json): undefined {
    const { clock, onCommit } = this.#options;
    const key = JSON.stringify(id);
    const waiting = new Waiting({
      database,
      operations,
      clock,
      answer: (outcome) => {
        this.#waiting.delete(key);
        if (outcome === undefined) return this.#send({ id, result: null, error: 'canceled' });
        // Updates come before the answer (ovsdb-server(7), 4.1.5).
        if (outcome.commit !== undefined) onCommit(database, outcome.commit);
        this.#send({ id, result: outcome.results, error: null });
      },
    });
    if (!waiting.attempt()) this.#waiting.set(key, waiting);
  }

  #cancel(id: unknown): undefined {
    this.#waiting.get(JSON.stringify(id))?.cancel();
  }

  #monitor(method: FakeMonitor['method'], [name, id, requests, since]: Params): Json {
    const { database } = this.#database(name);
    const key = JSON.stringify(id);
    if (this.#monitors.has(key)) throw syntaxError('there is a monitor with this id');
    const monitor = { id: id as Json, database, method, tables: readTables(requests, database) };
    this.#monitors.set(key, monitor);
    if (method === 'update2') return writeInitial(monitor);
    const changes = database.changesSince(typeof since === 'string' ? since : zeroUuid);
    if (changes === undefined) return [false, database.lastTransaction, writeInitial(monitor)];
    return [true, database.lastTransaction, writeChanges(monitor, changes) ?? {}];
  }

  #cancelMonitor(id: unknown): Json {
    if (!this.#monitors.delete(JSON.stringify(id)))
      throw new Failure('unknown monitor', 'there is no such monitor');
    return {};
  }
}
