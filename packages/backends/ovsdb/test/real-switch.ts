/** Open vSwitch's own database, and its daemon where a test starts it. */
import type { ClientOptions } from '@podwire/ovsdb';
import { run } from '@podwire/testkit';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';

export class RealSwitch extends OpenVSwitch {
  /** Starts the database alone. */
  static override async start(): Promise<RealSwitch> {
    const real = new RealSwitch();
    await real.database.start();
    return real;
  }

  get client(): Omit<ClientOptions, 'database'> {
    return { endpoints: [this.database.endpoint], backoff: { first: 5, longest: 50 } };
  }

  /** As an administrator works with it; without ovs-vswitchd nothing waits for the switch itself. */
  override async vsctl(...words: readonly string[]): Promise<string> {
    return super.vsctl('--no-wait', ...words);
  }

  /** Every row of every table, in the order of their uuids. */
  async picture(): Promise<readonly string[]> {
    const dump = await run(['ovsdb-client', '--format=json', 'dump', this.database.endpoint]);
    return dump.split('\n').flatMap((table) => (table === '' ? [] : [sortRows(table)]));
  }

  /** Kills ovsdb-server and starts it again, on an empty database. */
  async restartEmpty(): Promise<void> {
    await this.database.erase();
  }
}

function sortRows(text: string): string {
  const table = JSON.parse(text) as { caption: string; data: readonly unknown[] };
  const rows = table.data.map((row) => JSON.stringify(row)).sort();
  return `${table.caption}\n${rows.join('\n')}`;
}
