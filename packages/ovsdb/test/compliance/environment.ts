/** Environment of a compliance case, on the in-memory server and on the real one. */
import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { type ClientOptions, type Operation, OvsdbClient, TransactionError } from '@podwire/ovsdb';

/** A server with an empty database of the test schema. */
export interface Target {
  readonly client: Pick<ClientOptions, 'endpoints' | 'open'>;
  /** True if clients can go on after the last transaction that they have seen. */
  readonly knowsTransactions: boolean;
  /** Ends the server without a word, and starts it with the same content. */
  restart(): Promise<void>;
  /** Ends the server, and starts it with an empty database. */
  erase(): Promise<void>;
  /** Makes the server answer nothing any more, until `restart`. */
  freeze(): Promise<void>;
  close(): Promise<void>;
}

export interface Environment {
  readonly target: Target;
  readonly client: OvsdbClient;
  /** One more client of the same server. */
  readonly connect: (options?: Partial<ClientOptions>) => OvsdbClient;
}

export interface Case {
  readonly name: string;
  readonly run: (environment: Environment) => Promise<void>;
}

/** Runs a case on a target, which is closed after it. */
export async function runCase({ run }: Case, open: () => Promise<Target>): Promise<void> {
  const target = await open();
  const clients: OvsdbClient[] = [];
  const connect = (options: Partial<ClientOptions> = {}): OvsdbClient => {
    const backoff = { first: 5, longest: 50 };
    const client = new OvsdbClient({ database: 'Test', backoff, ...target.client, ...options });
    clients.push(client);
    return client;
  };
  try {
    await run({ target, connect, client: connect() });
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await target.close();
  }
}

/** The errors of a transaction with the place of each: `1: constraint violation`; none if it succeeded. */
export async function failuresOf(
  client: OvsdbClient,
  ...operations: Operation[]
): Promise<readonly string[]> {
  try {
    await client.transact(operations);
    return [];
  } catch (error) {
    if (!(error instanceof TransactionError)) throw error;
    return error.failures.map((failure) => `${failure.index}: ${failure.error}`);
  }
}

/** The rows of a table, with these columns. */
export async function select(
  client: OvsdbClient,
  table: string,
  columns: readonly string[],
): Promise<readonly object[]> {
  const [{ rows }] = await client.transact([{ op: 'select', table, where: [], columns }]);
  return rows;
}

export const insertParent = (name: string, row: object = {}, uuidName?: string): Operation => ({
  op: 'insert',
  table: 'Parent',
  row: { name, ...row },
  ...(uuidName === undefined ? {} : { uuidName }),
});

export const insertChild = (uuidName: string, row: object = {}): Operation => ({
  op: 'insert',
  table: 'Child',
  row: { label: uuidName, ...row },
  uuidName,
});

/** Asserts that two lists have the same members, in any order. */
export function assertSame(actual: Iterable<unknown>, expected: Iterable<unknown>): void {
  const keyOf = (member: unknown): string => inspect(member, { sorted: true, depth: 4 });
  const sorted = (list: Iterable<unknown>): unknown[] =>
    [...list].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  assert.deepEqual(sorted(actual), sorted(expected));
}
