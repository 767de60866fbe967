/** A real Open vSwitch with everything of its own, as far as tests of flows need it. */
import fs from 'node:fs';
import path from 'node:path';
import { run, type RunningProcess, start } from '@podwire/testkit';
import { OvsdbServer } from '@podwire/testkit/ovsdb';

const schemaFile = '/usr/share/openvswitch/vswitch.ovsschema';

/**
 * ovsdb-server and ovs-vswitchd. Bridges have the kind `dummy` of datapath, that of Open vSwitch's own tests:
 * packets go through the userspace datapath, and no interface of the machine is made or looked at.
 */
export class OpenVSwitch {
  readonly #database = new OvsdbServer({
    schema: JSON.parse(fs.readFileSync(schemaFile, 'utf8')) as unknown,
    model: 'standalone',
  });
  #daemon: RunningProcess | undefined;

  static async start(): Promise<OpenVSwitch> {
    const started = new OpenVSwitch();
    try {
      await started.#start();
      return started;
    } catch (error) {
      await started.close();
      throw error;
    }
  }

  async #start(): Promise<void> {
    await this.#database.start();
    await this.vsctl('--no-wait', 'init');
    const kinds = ['--enable-dummy=override', '--disable-system', '--disable-system-route'];
    const argv = ['ovs-vswitchd', `--unixctl=${this.#control}`, ...kinds, this.#database.endpoint];
    this.#daemon = start(argv, { env: this.#env });
  }

  /** The management socket of a bridge. */
  socketOf(bridge: string): string {
    return path.join(this.#database.directory, `${bridge}.mgmt`);
  }

  /** Waits for ovs-vswitchd to have done what is asked, unless `--no-wait` is among the words. */
  async vsctl(...words: readonly string[]): Promise<string> {
    return run(['ovs-vsctl', '--retry', `--db=${this.#database.endpoint}`, ...words], { env: this.#env });
  }

  async appctl(...words: readonly string[]): Promise<string> {
    return run(['ovs-appctl', '-t', this.#control, ...words], { env: this.#env });
  }

  async close(): Promise<void> {
    await this.#daemon?.stop();
    await this.#database.close();
  }

  get #control(): string {
    return path.join(this.#database.directory, 'daemon');
  }

  get #env(): NodeJS.ProcessEnv {
    const { directory } = this.#database;
    return { ...process.env, OVS_RUNDIR: directory, OVS_DBDIR: directory, OVS_LOGDIR: directory };
  }
}
