/** The real ovsdb-server of Debian's openvswitch-switch. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { exitOnSignals } from '../private-host.js';
import { type RunningProcess, run, start } from '../processes.js';

export interface OvsdbServerOptions {
  readonly schema: unknown;
  readonly model: 'standalone' | 'clustered';
  /** The server whose cluster this one joins; a clustered server founds one of its own when absent. */
  readonly join?: OvsdbServer;
  /** More of the command line, such as `--remote=ptcp:0:127.0.0.1`. */
  readonly flags?: readonly string[];
}

/** By table: its rows by id, null for one that is gone; and `_comment`, `_date` and other words about it. */
export type LoggedTransaction = Readonly<Record<string, unknown>> & { readonly _comment?: string };

/** One ovsdb-server with a directory of its own, which is gone after `close`. It does not run until `start`. */
export class OvsdbServer {
  readonly directory: string;
  readonly #options: OvsdbServerOptions;
  #process: RunningProcess | undefined;

  constructor(options: OvsdbServerOptions) {
    this.#options = options;
    this.directory = createDirectory();
    fs.writeFileSync(this.#file('schema'), JSON.stringify(options.schema));
  }

  get endpoint(): string {
    return `unix:${this.#file('db.sock')}`;
  }

  /** Starts it on the database that is there, or on an empty one. Resolves when it takes connections. */
  async start(): Promise<void> {
    if (!fs.existsSync(this.#file('db'))) await this.#create();
    const server = start([
      'ovsdb-server',
      '--no-chdir',
      '--verbose=console:info',
      `--unixctl=${this.#file('ctl')}`,
      `--remote=punix:${this.#file('db.sock')}`,
      ...(this.#options.flags ?? []),
      this.#file('db'),
    ]);
    this.#process = server;
    await server.waitForOutput(/ovsdb-server \(Open vSwitch\)/);
  }

  /** The port of a remote `ptcp:0` or `pssl:0` among the flags. */
  async port(): Promise<number> {
    const match = await this.#process?.waitForOutput(/listening on port (\d+)/);
    return Number(match?.[1]);
  }

  /** `leader`, `follower` or `candidate` */
  async role(): Promise<string> {
    const status = await run(['ovs-appctl', '-t', this.#file('ctl'), 'cluster/status', this.#name]);
    return /^Role: (.*)$/m.exec(status)?.[1] ?? status;
  }

  /** Stops its execution; connections stay open. */
  freeze(): void {
    this.#process?.freeze();
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  /** Ends it without a word. */
  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL');
    await this.#process?.exited;
  }

  /** The database as it is now, for {@link restore}. */
  backup(): Buffer {
    return fs.readFileSync(this.#file('db'));
  }

  /**
   * Transactions that have changed something, as the database's file has them (ovsdb(5)): rows by table and id, with the columns that
   * have changed. Since the file was compacted last.
   */
  transactions(): LoggedTransaction[] {
    const records = this.backup().toString('utf8').split('\n');
    return records.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LoggedTransaction] : []));
  }

  /** Starts it again on a database as it was earlier. */
  async restore(backup: Buffer): Promise<void> {
    await this.kill();
    fs.writeFileSync(this.#file('db'), backup);
    await this.start();
  }

  async erase(): Promise<void> {
    await this.kill();
    fs.rmSync(this.#file('db'));
    await this.start();
  }

  async close(): Promise<void> {
    await this.kill();
    fs.rmSync(this.directory, { recursive: true });
    leftOnExit.delete(this.directory);
  }

  async #create(): Promise<void> {
    const { model, join } = this.#options;
    const [database, schema] = [this.#file('db'), this.#file('schema')];
    if (model === 'standalone') await run(['ovsdb-tool', 'create', database, schema]);
    else if (join === undefined) await run(['ovsdb-tool', 'create-cluster', database, schema, this.#raft]);
    else await run(['ovsdb-tool', 'join-cluster', database, this.#name, this.#raft, join.#raft]);
  }

  /** The address at which other members find it. */
  get #raft(): string {
    return `unix:${this.#file('raft')}`;
  }

  get #name(): string {
    return (this.#options.schema as { readonly name: string }).name;
  }

  #file(name: string): string {
    return path.join(this.directory, name);
  }
}

const leftOnExit = new Set<string>();

process.on('exit', () => leftOnExit.forEach((left) => fs.rmSync(left, { recursive: true, force: true })));

/** In memory where the machine can: the server waits for the disk at every transaction. */
function createDirectory(): string {
  exitOnSignals();
  const parent = fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();
  const directory = fs.mkdtempSync(path.join(parent, 'pwt-ovsdb-'));
  leftOnExit.add(directory);
  return directory;
}
