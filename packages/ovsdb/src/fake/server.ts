import { randomUUID } from 'node:crypto';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '@podwire/platform';
import { serverSchemaJson } from '../client/server-state.js';
import { parseSchema } from '../parse-schema.js';
import type { Json } from '../values.js';
import { type Commit, Database } from './database.js';
import { FakeSession, type ServedDatabase } from './session.js';
import { createStreamPair } from './stream-pair.js';

export interface FakeServerOptions {
  /** The content of a file `*.ovsschema`. */
  readonly schema: unknown;
  /** `clustered` knows its last hundred transactions, and may lead or not; `standalone` when absent. */
  readonly model?: 'standalone' | 'clustered';
  /** Measures how long transactions wait for a condition. */
  readonly clock?: Pick<Clock, 'sleep'>;
  readonly createUuid?: () => string;
}

/** An OVSDB server in memory, with the rules of its schema as ovsdb-server has them, and faults on demand. */
export class FakeServer {
  readonly #options: Required<FakeServerOptions>;
  readonly #sessions = new Set<FakeSession>();
  readonly #state: ServedDatabase;
  #main: ServedDatabase;
  #isRunning = true;
  #isSilent = false;
  #unknownMethods: ReadonlySet<string> = new Set();

  /** @throws ProtocolError: the schema is faulty */
  constructor({
    model = 'standalone',
    clock = systemClock,
    createUuid = randomUUID,
    schema,
  }: FakeServerOptions) {
    this.#options = { model, clock, createUuid, schema };
    this.#main = this.#create(schema, model === 'clustered' ? 100 : 0);
    this.#state = this.#create(serverSchemaJson, 0);
    this.#describe({ op: 'insert', row: this.#description(true) });
  }

  /** The database's name. */
  get name(): string {
    return this.#main.database.options.schema.name;
  }

  /** For the option `open` of a client. @throws Error while the server is stopped */
  readonly open = (_endpoint: string, signal: AbortSignal): Promise<Duplex> => {
    signal.throwIfAborted();
    if (!this.#isRunning) return Promise.reject(new Error('the server is stopped'));
    const [near, far] = createStreamPair();
    this.#accept(far);
    return Promise.resolve(near);
  };

  /** Serves a unix socket too, for other programs. The server must be closed by the caller. */
  async listen(path: string): Promise<net.Server> {
    const server = net.createServer((socket) => this.#accept(socket));
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
    return server;
  }

  /** Ends all connections; new ones are taken. */
  cut(): void {
    for (const session of [...this.#sessions]) session.close();
  }

  /** Ends all connections in the middle of a message. */
  cutInMessage(): void {
    for (const session of [...this.#sessions]) session.write('{"id":null,"method":"update3","params":[');
    this.cut();
  }

  /** Writes a text to all connections as it is. */
  write(text: string): void {
    for (const session of this.#sessions) session.write(text);
  }

  /** Ends all connections and takes no new ones. The content stays. */
  stop(): void {
    this.#isRunning = false;
    this.cut();
  }

  start(): void {
    this.#isRunning = true;
  }

  /** Reads and carries out, and answers nothing, until it is called with `false`. */
  setSilent(isSilent: boolean): void {
    this.#isSilent = isSilent;
  }

  /** Methods that the server does not have, as one of an older version. */
  forgetMethods(...methods: readonly string[]): void {
    this.#unknownMethods = new Set(methods);
  }

  /** Starts with an empty database, as after the restore of one. */
  erase(): void {
    const { schema, model } = this.#options;
    this.#main = this.#create(schema, model === 'clustered' ? 100 : 0);
    this.cut();
  }

  /** Gives the database another schema. Its content stays; clients learn of it. @throws Failure: the content does not fit */
  convert(schema: unknown): void {
    const former = this.#main.database;
    this.#main = this.#create(schema, former.options.history);
    this.#main.database.adopt(former);
    for (const session of this.#sessions) session.cancelMonitors(former);
    this.#describe({ op: 'update', where: [], row: this.#description(true) });
  }

  /** Of a clustered database. */
  setLeader(leader: boolean): void {
    this.#describe({ op: 'update', where: [], row: this.#description(leader) });
  }

  /** Carries out operations as a client would. @returns the results as they are on the wire */
  transact(...operations: readonly Json[]): readonly Json[] {
    return this.#transactOn(this.#main.database, operations);
  }

  #description(leader: boolean): Json {
    const { model } = this.#options;
    return { name: this.name, model, connected: true, leader, schema: JSON.stringify(this.#main.schema) };
  }

  #describe(operation: { readonly [member: string]: Json }): void {
    this.#transactOn(this.#state.database, [{ ...operation, table: 'Database' }]);
  }

  #transactOn(database: Database, operations: readonly Json[]): readonly Json[] {
    const outcome = database.transact(operations);
    if ('commit' in outcome && outcome.commit !== undefined) this.#publish(database, outcome.commit);
    return outcome.results;
  }

  #create(json: unknown, history: number): ServedDatabase {
    const schema = parseSchema(json);
    const database = new Database({ schema, history, createUuid: this.#options.createUuid });
    return { database, schema: json as Json };
  }

  #accept(stream: Duplex): void {
    const session = new FakeSession({
      stream,
      clock: this.#options.clock,
      databases: () =>
        new Map([
          [this.name, this.#main],
          ['_Server', this.#state],
        ]),
      unknownMethods: () => this.#unknownMethods,
      isSilent: () => this.#isSilent,
      onCommit: (database, commit) => this.#publish(database, commit),
    });
    this.#sessions.add(session);
    stream.once('close', () => this.#sessions.delete(session));
    if (!this.#isRunning) session.close();
  }

  #publish(database: Database, commit: Commit): void {
    if (commit.changes.length === 0) return;
    for (const session of this.#sessions) session.notify(database, commit);
    // Not from within a transaction that is being answered.
    queueMicrotask(() => {
      for (const session of this.#sessions) session.retry();
    });
  }
}
