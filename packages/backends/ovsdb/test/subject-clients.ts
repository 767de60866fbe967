/** The clients of one subject of the compliance suite: those of backends, and those of other programs. */
import type { Backend } from '@podwire/engine';
import { type ClientOptions, OvsdbClient } from '@podwire/ovsdb';

export interface SubjectOptions {
  readonly client: Omit<ClientOptions, 'database'>;
  /** All rows of a database. */
  readonly picture: () => unknown;
}

export interface SubjectClients {
  readonly open: () => OvsdbClient;
  readonly openBackend: () => Backend;
  /** Does something as another program does. All backends have seen it afterwards. */
  readonly change: (work: (client: OvsdbClient) => Promise<unknown>) => Promise<void>;
}

export function createSubjectClients(
  options: ClientOptions,
  create: (client: OvsdbClient) => Backend,
): SubjectClients {
  const open = (): OvsdbClient => new OvsdbClient(options);
  const backends: OvsdbClient[] = [];
  // The caches of backends have a change at the latest with the next answer that they get.
  const settle = (): Promise<unknown> => Promise.allSettled(backends.map((client) => client.transact([])));
  return {
    open,
    openBackend: () => {
      const client = open();
      backends.push(client);
      return create(client);
    },
    change: async (work) => {
      const client = open();
      try {
        await work(client);
        await settle();
      } finally {
        await client.close();
      }
    },
  };
}

/** Takes rows out of the set `ports` of all rows of another table: the database deletes them. */
export async function removePortRow(
  client: OvsdbClient,
  { table, of }: { readonly table: string; readonly of: string },
  name: string,
): Promise<void> {
  const [{ rows }] = await client.transact([
    { op: 'select', table, where: [['name', '==', name]], columns: ['_uuid'] },
  ]);
  const uuids = rows.map(({ _uuid }) => _uuid);
  await client.transact([{ op: 'mutate', table: of, where: [], mutations: [['ports', 'delete', uuids]] }]);
}
