/** Random transactions give the same results and the same caches on ovsdb-server and on the in-memory server. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { type AnyDatabase, type Cache, type Operation, OvsdbClient, TransactionError } from '@podwire/ovsdb';
import { FakeServer } from '@podwire/ovsdb/fake';
import { OvsdbServer } from '@podwire/testkit/ovsdb';
import fc from 'fast-check';
import { testSchema } from './compliance/index.js';
import { clear, transactions } from './support/random-operations.js';

const runs = process.env['PODWIRE_TEST_LONG'] === '1' ? 5_000 : 150;
const followed = { Parent: {}, Child: {}, Pair: {}, Holder: {} } as const;
type Followed = Cache<AnyDatabase, typeof followed>;

interface Side {
  readonly client: OvsdbClient;
  readonly cache: Followed;
}

// Standalone: a cluster of ovsdb-server 3.1 answers nothing any more after some updates that write weak references to rows
// that are not there. Both kinds of database share the rules that are compared here.
const real = new OvsdbServer({ schema: testSchema, model: 'standalone' });
const fake = new FakeServer({ schema: testSchema, model: 'clustered' });
let sides: readonly [Side, Side];

async function connect(options: Partial<ConstructorParameters<typeof OvsdbClient>[0]>): Promise<Side> {
  const client = new OvsdbClient({ endpoints: [real.endpoint], database: 'Test', ...options });
  return { client, cache: await client.monitor(followed) };
}

before(async () => {
  await real.start();
  sides = await Promise.all([connect({}), connect({ open: fake.open })]);
});
after(async () => {
  await Promise.all(sides.map(({ client }) => client.close()));
  await real.close();
});

const show = (value: unknown): string =>
  inspect(value, { sorted: true, depth: 8, breakLength: 120, maxArrayLength: null });

/** The rows of a select come in any order. */
const showResult = (result: object): string =>
  'rows' in result ? (result.rows as readonly object[]).map(show).sort().join('\n') : show(result);

async function outcomeOf({ client }: Side, operations: readonly Operation[]): Promise<string> {
  try {
    return (await client.transact(operations)).map(showResult).join('\n');
  } catch (error) {
    if (!(error instanceof TransactionError)) throw error;
    return show(error.failures.map((failure) => `${failure.index}: ${failure.error}`));
  }
}

const showCache = (cache: Followed): string =>
  show(Object.keys(followed).map((table) => cache.rows(table as keyof typeof followed)));

test('random transactions have the same outcome on both servers, and lead to the same rows', async () => {
  const property = fc.asyncProperty(transactions, async (list) => {
    for (const operations of [clear, ...list]) {
      const [one, other] = await Promise.all([
        outcomeOf(sides[0], operations),
        outcomeOf(sides[1], operations),
      ]);
      assert.equal(other, one, show(operations));
      assert.equal(showCache(sides[1].cache), showCache(sides[0].cache), show(operations));
    }
  });
  await fc.assert(property, { numRuns: runs });
});
