/** The central part of OVN: its two databases, and ovn-northd between them. All of it has a directory of its own. */
import fs from 'node:fs';
import path from 'node:path';
import { OvsdbServer } from '../ovsdb/index.js';
import { type RunningProcess, run, start } from '../processes.js';

/** One of the schemas of Debian's ovn-common. */
export const readOvnSchema = (database: 'nb' | 'sb'): unknown =>
  JSON.parse(fs.readFileSync(`/usr/share/ovn/ovn-${database}.ovsschema`, 'utf8'));

const createDatabase = (name: 'nb' | 'sb'): OvsdbServer =>
  new OvsdbServer({ schema: readOvnSchema(name), model: 'standalone' });

export class OvnCentral {
  readonly northbound = createDatabase('nb');
  readonly southbound = createDatabase('sb');
  #daemon: RunningProcess | undefined;

  /** Starts the databases and ovn-northd. */
  static async start(): Promise<OvnCentral> {
    const central = new OvnCentral();
    try {
      await central.northbound.start();
      await central.southbound.start();
      await central.startDaemon();
      return central;
    } catch (error) {
      await central.close();
      throw error;
    }
  }

  /** Starts ovn-northd. Resolves when it is the one that is at work. */
  async startDaemon(): Promise<void> {
    const { directory } = this.northbound;
    const databases = [`--ovnnb-db=${this.northbound.endpoint}`, `--ovnsb-db=${this.southbound.endpoint}`];
    const control = `--unixctl=${path.join(directory, 'northd.ctl')}`;
    const flags = ['--no-chdir', '--verbose=console:info', control];
    this.#daemon = start(['ovn-northd', ...flags, ...databases], { env: this.#env });
    await this.#daemon.waitForOutput(/ovn-northd lock acquired/);
  }

  /** Ends ovn-northd without a word. */
  async killDaemon(): Promise<void> {
    this.#daemon?.kill('SIGKILL');
    await this.#daemon?.exited;
  }

  /** ovn-nbctl, which waits for nothing unless `--wait` is among the words. */
  nbctl(...words: readonly string[]): Promise<string> {
    return run(['ovn-nbctl', `--db=${this.northbound.endpoint}`, ...words], { env: this.#env });
  }

  sbctl(...words: readonly string[]): Promise<string> {
    return run(['ovn-sbctl', `--db=${this.southbound.endpoint}`, ...words], { env: this.#env });
  }

  /** ovn-trace: what the logical network does with a packet. */
  trace(...words: readonly string[]): Promise<string> {
    return run(['ovn-trace', `--db=${this.southbound.endpoint}`, ...words], { env: this.#env });
  }

  async close(): Promise<void> {
    // A program that is missing rejects; the others are stopped all the same.
    await Promise.allSettled([this.killDaemon()]);
    for (const database of [this.northbound, this.southbound]) await database.close();
  }

  get #env(): NodeJS.ProcessEnv {
    const { directory } = this.northbound;
    return { ...process.env, OVN_RUNDIR: directory, OVN_LOGDIR: directory, OVN_SYSCONFDIR: directory };
  }
}
