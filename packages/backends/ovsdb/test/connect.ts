import { OvsdbClient } from '@podwire/ovsdb';
import { onTestFinished } from 'vitest';
import type { FakeDatabase } from './fake-database.js';

/** A client of the database, which is closed with the test. */
export function connect({ server, client }: FakeDatabase): OvsdbClient {
  const opened = new OvsdbClient({ database: server.name, ...client });
  onTestFinished(() => opened.close());
  return opened;
}
