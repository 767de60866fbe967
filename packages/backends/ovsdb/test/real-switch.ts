/** Open vSwitch's own database and daemon: ovsdb-server, and ovs-vswitchd with ports that are no links of the machine. */
import fs from 'node:fs';
import path from 'node:path';
import type { ClientOptions } from '@podwire/ovsdb';
import { type RunningProcess, run, start } from '@podwire/testkit';
import { OvsdbServer } from '@podwire/testkit/ovsdb';

const schemaFile = '/usr/share/openvswitch/vswitch.ovsschema';

export class RealSwitch {
  readonly #server = new OvsdbServer({
    schema: JSON.parse(fs.readFileSync(schemaFile, 'utf8')),
    model: 'standalone',
  });
  #daemon: RunningProcess | undefined;

  static async start(): Promise<RealSwitch> {
    const real = new RealSwitch();
    await real.#server.start();
    return real;
  }

  get client(): Omit<ClientOptions, 'database'> {
    return { endpoints: [this.#server.endpoint], backoff: { first: 5, longest: 50 } };
  }

  /** As an administrator works with it; without ovs-vswitchd nothing waits for the switch itself. */
  async vsctl(...words: readonly string[]): Promise<string> {
    return run(['ovs-vsctl', '--no-wait', `--db=${this.#server.endpoint}`, ...words]);
  }

  /** Every row of every table, in the order of their uuids. */
  async picture(): Promise<readonly string[]> {
    const dump = await run(['ovsdb-client', '--format=json', 'dump', this.#server.endpoint]);
    return dump.split('\n').flatMap((table) => (table === '' ? [] : [sortRows(table)]));
  }

  /** Resolves when ovs-vswitchd is at work. */
  async startDaemon(): Promise<void> {
    const { directory, endpoint } = this.#server;
    const flags = ['--no-chdir', '--verbose=console:info', '--enable-dummy=override', '--disable-system'];
    const env = { ...process.env, OVS_RUNDIR: directory, OVS_LOGDIR: directory };
    const control = `--unixctl=${path.join(directory, 'daemon')}`;
    this.#daemon = start(['ovs-vswitchd', ...flags, control, endpoint], { env });
    await this.#daemon.waitForOutput(/ovs-vswitchd \(Open vSwitch\)/);
  }

  async waitForDaemon(pattern: RegExp): Promise<void> {
    await this.#daemon?.waitForOutput(pattern);
  }

  async killDaemon(): Promise<void> {
    this.#daemon?.kill('SIGKILL');
    await this.#daemon?.exited;
  }

  /** Kills ovsdb-server and starts it again, on an empty database. */
  async restartEmpty(): Promise<void> {
    await this.#server.erase();
  }

  async close(): Promise<void> {
    await this.killDaemon();
    await this.#server.close();
  }
}

function sortRows(text: string): string {
  const table = JSON.parse(text) as { caption: string; data: readonly unknown[] };
  const rows = table.data.map((row) => JSON.stringify(row)).sort();
  return `${table.caption}\n${rows.join('\n')}`;
}
