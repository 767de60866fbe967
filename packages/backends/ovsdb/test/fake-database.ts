import { FakeServer } from '@podwire/ovsdb/fake';
import type { ClientOptions } from '@podwire/ovsdb';
import { northboundSchema } from './northbound-schema.js';
import { switchSchema } from './switch-schema.js';

/** A database in memory, with the tables of ours. */
export interface FakeDatabase {
  readonly server: FakeServer;
  readonly client: Omit<ClientOptions, 'database'>;
  readonly picture: () => unknown;
}

export const backoff = { first: 2, longest: 10 };

export const createFakeSwitch = (): FakeDatabase => createFake(switchSchema);

export const createFakeNorthbound = (): FakeDatabase => createFake(northboundSchema);

function createFake(schema: { readonly tables: object }): FakeDatabase {
  const server = new FakeServer({ schema });
  const tables = Object.keys(schema.tables);
  return {
    server,
    client: { endpoints: ['memory'], open: server.open, backoff },
    picture: () =>
      server.transact(...tables.map((table) => ({ op: 'select', table, where: [] }))).map(withoutVersions),
  };
}

type SelectedRows = { readonly rows: readonly { readonly _uuid: readonly string[] }[] };

const withoutVersions = (result: unknown): unknown =>
  (result as SelectedRows).rows
    .map((row) => JSON.stringify({ ...row, _version: undefined }, (_, value: unknown) => inOrder(value)))
    .sort();

/** Sets and maps have no order, nor have the rows of a table. */
function inOrder(value: unknown): unknown {
  if (!Array.isArray(value) || !Array.isArray(value[1])) return value;
  const members = (value[1] as readonly unknown[]).map((member) => JSON.stringify(member));
  return [value[0], ...members.sort()];
}
