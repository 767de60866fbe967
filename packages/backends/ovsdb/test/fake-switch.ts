import { FakeServer } from '@podwire/ovsdb/fake';
import type { ClientOptions } from '@podwire/ovsdb';
import { switchSchema } from './switch-schema.js';

export interface FakeSwitch {
  readonly server: FakeServer;
  readonly client: Omit<ClientOptions, 'database'>;
  readonly picture: () => unknown;
}

export const backoff = { first: 2, longest: 10 };

export function createFakeSwitch(): FakeSwitch {
  const server = new FakeServer({ schema: switchSchema });
  const tables = Object.keys(switchSchema.tables);
  return {
    server,
    client: { endpoints: ['memory'], open: server.open, backoff },
    picture: () =>
      server.transact(...tables.map((table) => ({ op: 'select', table, where: [] }))).map(withoutVersions),
  };
}

type SelectedRows = { readonly rows: readonly { readonly _uuid: readonly string[] }[] };

/** In the order of their uuids: a set has none. */
const withoutVersions = (result: unknown): unknown =>
  (result as SelectedRows).rows.map((row) => JSON.stringify({ ...row, _version: undefined })).sort();
