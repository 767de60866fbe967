import { OvsdbClient } from '@podwire/ovsdb';
import { onTestFinished } from 'vitest';
import type { FakeSwitch } from './fake-switch.js';

/** A client of the switch's database, which is closed with the test. */
export function connect({ client }: FakeSwitch): OvsdbClient {
  const opened = new OvsdbClient({ database: 'Open_vSwitch', ...client });
  onTestFinished(() => opened.close());
  return opened;
}
