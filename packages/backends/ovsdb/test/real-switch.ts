/** ovsdb-server of Debian's openvswitch-switch with Open vSwitch's schema, in a directory of its own. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ClientOptions } from '@podwire/ovsdb';
import { type RunningProcess, run, start } from '@podwire/testkit';

const schema = '/usr/share/openvswitch/vswitch.ovsschema';

export class RealSwitch {
  readonly #directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-switch-'));
  #server: RunningProcess | undefined;
  #daemon: RunningProcess | undefined;

  static async start(): Promise<RealSwitch> {
    const server = new RealSwitch();
    await server.#start();
    return server;
  }

  get client(): Omit<ClientOptions, 'database'> {
    return { endpoints: [`unix:${this.#file('sock')}`], backoff: { first: 5, longest: 50 } };
  }

  /** As an administrator works with it; without ovs-vswitchd nothing waits for the switch itself. */
  async vsctl(...words: readonly string[]): Promise<string> {
    return run(['ovs-vsctl', '--no-wait', `--db=unix:${this.#file('sock')}`, ...words]);
  }

  /** Every row of every table, in the order of their uuids. */
  async picture(): Promise<readonly string[]> {
    const dump = await run(['ovsdb-client', '--format=json', 'dump', `unix:${this.#file('sock')}`]);
    return dump.split('\n').flatMap((table) => (table === '' ? [] : [sortRows(table)]));
  }

  /** Starts ovs-vswitchd with ports that are no links of the machine. Resolves when it is at work. */
  async startDaemon(): Promise<void> {
    const flags = ['--no-chdir', '--verbose=console:info', '--enable-dummy=override', '--disable-system'];
    const env = { ...process.env, OVS_RUNDIR: this.#directory, OVS_LOGDIR: this.#directory };
    const argv = [
      'ovs-vswitchd',
      ...flags,
      `--unixctl=${this.#file('daemon')}`,
      `unix:${this.#file('sock')}`,
    ];
    this.#daemon = start(argv, { env });
    await this.#daemon.waitForOutput(/ovs-vswitchd \(Open vSwitch\)/);
  }

  async waitForDaemon(pattern: RegExp): Promise<void> {
    await this.#daemon?.waitForOutput(pattern);
  }

  async killDaemon(): Promise<void> {
    this.#daemon?.kill('SIGKILL');
    await this.#daemon?.exited;
  }

  /** Kills it and starts it again, on an empty database. */
  async restartEmpty(): Promise<void> {
    await this.#kill();
    fs.rmSync(this.#file('db'));
    await this.#start();
  }

  async close(): Promise<void> {
    await this.killDaemon();
    await this.#kill();
    fs.rmSync(this.#directory, { recursive: true });
  }

  async #start(): Promise<void> {
    if (!fs.existsSync(this.#file('db'))) await run(['ovsdb-tool', 'create', this.#file('db'), schema]);
    this.#server = start([
      ...['ovsdb-server', '--no-chdir', '--verbose=console:info', `--unixctl=${this.#file('ctl')}`],
      ...[`--remote=punix:${this.#file('sock')}`, this.#file('db')],
    ]);
    await this.#server.waitForOutput(/ovsdb-server \(Open vSwitch\)/);
  }

  async #kill(): Promise<void> {
    this.#server?.kill('SIGKILL');
    await this.#server?.exited;
  }

  #file(name: string): string {
    return path.join(this.#directory, name);
  }
}

function sortRows(text: string): string {
  const table = JSON.parse(text) as { caption: string; data: readonly unknown[] };
  const rows = table.data.map((row) => JSON.stringify(row)).sort();
  return `${table.caption}\n${rows.join('\n')}`;
}
