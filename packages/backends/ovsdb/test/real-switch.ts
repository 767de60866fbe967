/** Open vSwitch's own database, and its daemon where a test starts it. */
import type { ClientOptions } from '@podwire/ovsdb';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';
import { dumpRows } from './dump-rows.js';

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

  picture(): Promise<readonly string[]> {
    return dumpRows(this.database);
  }

  /** Kills ovsdb-server and starts it again, on an empty database. */
  async restartEmpty(): Promise<void> {
    await this.database.erase();
  }
}
