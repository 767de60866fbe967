/** A real Open vSwitch with everything of its own: database, sockets, directory, and the datapath in its process. */
import fs from 'node:fs';
import path from 'node:path';
import type { TestNamespace } from './namespaces.js';
import { OvsdbServer } from './ovsdb/index.js';
import { type RunningProcess, run, start } from './processes.js';

/** The schema of Debian's openvswitch-switch. */
const schemaFile = '/usr/share/openvswitch/vswitch.ovsschema';

/**
 * ovsdb-server and ovs-vswitchd. Every bridge has the kind `dummy` of datapath, that of Open vSwitch's own tests: packets
 * go through the userspace datapath, and no interface of the machine is made or looked at. In a namespace it is the
 * real thing: bridges are to have the datapath `netdev`, and ports are links of the namespace.
 */
export class OpenVSwitch {
  readonly #namespace: TestNamespace | undefined;

  readonly database = new OvsdbServer({
    schema: JSON.parse(fs.readFileSync(schemaFile, 'utf8')),
    model: 'standalone',
  });
  #daemon: RunningProcess | undefined;

  constructor(namespace?: TestNamespace) {
    this.#namespace = namespace;
  }

  /** Starts both. Resolves when ovs-vswitchd is at work. @param namespace of ovs-vswitchd */
  static async start(namespace?: TestNamespace): Promise<OpenVSwitch> {
    const started = new OpenVSwitch(namespace);
    try {
      await started.database.start();
      await started.vsctl('--no-wait', 'init');
      await started.startDaemon();
      return started;
    } catch (error) {
      await started.close();
      throw error;
    }
  }

  /** Starts both, and makes a bridge `br0` with ports `p1` to `p9` of the same numbers. */
  static async startWithBridge(): Promise<OpenVSwitch> {
    const started = await OpenVSwitch.start();
    const settings = ['datapath_type=dummy', 'fail_mode=secure', 'protocols=OpenFlow14'];
    const ports = [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((number) => [
      ...['--', 'add-port', 'br0', `p${number}`],
      ...['--', 'set', 'Interface', `p${number}`, 'type=dummy', `ofport_request=${number}`],
    ]);
    try {
      await started.vsctl('add-br', 'br0', '--', 'set', 'Bridge', 'br0', ...settings, ...ports);
      return started;
    } catch (error) {
      await started.close();
      throw error;
    }
  }

  /** Starts ovs-vswitchd on the database, which must run. */
  async startDaemon(): Promise<void> {
    const { endpoint } = this.database;
    // No datapath and no route of the machine is looked at: another Open vSwitch may have made it. First the dummy, which takes the
    // place of `system`: a datapath that is switched off before stays without one, and no bridge is made.
    const dummy = ['--enable-dummy=override', '--disable-system-route'];
    const kinds = [...(this.#namespace === undefined ? dummy : []), '--disable-system'];
    const flags = ['--no-chdir', '--verbose=console:info', '--pidfile'];
    const argv = ['ovs-vswitchd', ...flags, ...kinds, endpoint];
    this.#daemon = (this.#namespace?.start ?? start)(argv, { env: this.#env });
    await this.#daemon.waitForOutput(/ovs-vswitchd \(Open vSwitch\)/);
  }

  /** Resolves when ovs-vswitchd, since it was last started, has written this. */
  async waitForDaemon(pattern: RegExp): Promise<void> {
    await this.#daemon?.waitForOutput(pattern);
  }

  /** Ends ovs-vswitchd without a word. */
  async killDaemon(): Promise<void> {
    this.#daemon?.kill('SIGKILL');
    await this.#daemon?.exited;
  }

  /** Stops the execution of ovs-vswitchd; connections stay open. */
  freezeDaemon(): void {
    this.#daemon?.freeze();
  }

  thawDaemon(): void {
    this.#daemon?.kill('SIGCONT');
  }

  /** With the sockets of both, by their usual names. */
  get runDir(): string {
    return this.database.directory;
  }

  /** The management socket of a bridge. */
  socketOf(bridge: string): string {
    return path.join(this.database.directory, `${bridge}.mgmt`);
  }

  /** Waits for ovs-vswitchd to have done what is asked, unless `--no-wait` is among the words. */
  async vsctl(...words: readonly string[]): Promise<string> {
    return run(['ovs-vsctl', '--retry', `--db=${this.database.endpoint}`, ...words], { env: this.#env });
  }

  /** ovs-ofctl with OpenFlow 1.4; `BRIDGE` among the words means the socket of `br0`. */
  async ofctl(words: readonly string[], input?: string): Promise<string> {
    const target = (word: string): string => (word === 'BRIDGE' ? `unix:${this.socketOf('br0')}` : word);
    const options = { env: this.#env, ...(input === undefined ? {} : { input }) };
    return run(['ovs-ofctl', '-O', 'OpenFlow14', ...words.map(target)], options);
  }

  /** Asks ovs-vswitchd. */
  async appctl(...words: readonly string[]): Promise<string> {
    return run(['ovs-appctl', '-t', 'ovs-vswitchd', ...words], { env: this.#env });
  }

  async close(): Promise<void> {
    // A program that is missing rejects; the other one is stopped all the same.
    await Promise.allSettled([this.killDaemon()]);
    await this.database.close();
  }

  /** Where ovs-vswitchd has its sockets, and the file with its process id. */
  get runDirectory(): string {
    return this.database.directory;
  }

  get #env(): NodeJS.ProcessEnv {
    const { directory } = this.database;
    return { ...process.env, OVS_RUNDIR: directory, OVS_DBDIR: directory, OVS_LOGDIR: directory };
  }
}
