/** Caches under random transactions and disconnects. */
import { FakeServer } from '@podwire/ovsdb/fake';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AnyDatabase,
  type Cache,
  type CacheEvent,
  type Operation,
  OvsdbClient,
  type Row,
} from '../src/index.js';
import { OvsdbError } from '../src/errors.js';
import { testSchema } from './compliance/index.js';
import { transactions } from './support/random-operations.js';

const followed = { Parent: {}, Child: {}, Pair: {}, Holder: {} } as const;
const tables = Object.keys(followed) as readonly (keyof typeof followed)[];
type Followed = Cache<AnyDatabase, typeof followed>;

type Fault = 'none' | 'cut' | 'cutInMessage' | 'erase' | 'stop' | 'start';
const fault = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Fault>('none') },
  { weight: 1, arbitrary: fc.constantFrom<Fault>('cut', 'cutInMessage', 'erase', 'stop', 'start') },
);

/** Rows as the events alone report them. */
function replay(cache: Followed): ReadonlyMap<string, ReadonlyMap<string, Row>> {
  const copy = new Map(tables.map((table) => [String(table), new Map<string, Row>(cache.rows(table))]));
  cache.subscribe(({ changes }: CacheEvent) => {
    for (const change of changes) {
      const rows = copy.get(change.table)!;
      const before = change.type === 'insert' ? undefined : change.before;
      expect(rows.get(change.uuid)).toEqual(before);
      if (change.type === 'delete') rows.delete(change.uuid);
      else rows.set(change.uuid, change.after);
    }
  });
  return copy;
}

const levelOf = (row: Row): number | undefined => row['level'] as number | undefined;

/** An index must find what a look at all rows finds. */
function expectIndex(cache: Followed): void {
  for (let level = 0; level <= 10; level++) {
    const all = [...cache.rows('Parent').values()].filter((row) => levelOf(row) === level);
    expect(new Set(cache.find('Parent', 'level', level))).toEqual(new Set(all));
  }
}

async function readAll(client: OvsdbClient): Promise<readonly (readonly Row[])[]> {
  const selects = tables.map((table) => ({ op: 'select', table, where: [] }) as const satisfies Operation);
  return (await client.transact(selects)).map(({ rows }) => rows);
}

const withoutVersion = ({ _version, ...row }: Row): Row => row;
const byUuid = (rows: Iterable<Row>): ReadonlyMap<unknown, Row> =>
  new Map([...rows].map((row) => [row['_uuid'], withoutVersion(row)]));

/** Lets the other end work. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe.each(['standalone', 'clustered'] as const)('a cache of a database that is %s', (model) => {
  test('has the rows of the server and those of its events, whatever happens in between', async () => {
    const steps = fc.array(fc.tuple(fault, transactions), { minLength: 1, maxLength: 8 });
    const property = fc.asyncProperty(steps, async (list) => {
      const server = new FakeServer({ schema: testSchema, model });
      const backoff = { first: 0, longest: 0 };
      const client = new OvsdbClient({ endpoints: ['memory'], database: 'Test', open: server.open, backoff });
      const cache: Followed = await client.monitor(followed, { indexes: { Parent: { level: levelOf } } });
      const copy = replay(cache);
      for (const [what, writes] of list) {
        if (what !== 'none') server[what]();
        for (const operations of writes) {
          // The client of another program, or the own one, whose call may be lost.
          void client.transact(operations, { timeout: 1000 }).catch(expectOvsdbError);
          await turn();
        }
      }
      server.start();
      const rows = await readAll(client);
      await cache.until(({ isCurrent }) => isCurrent);
      for (const [index, table] of tables.entries()) {
        expect(byUuid(cache.rows(table).values())).toEqual(byUuid(rows[index]!));
        expect(copy.get(table)).toEqual(cache.rows(table));
      }
      expectIndex(cache);
      await client.close();
    });
    await fc.assert(property, { numRuns: 40 });
  });
});

function expectOvsdbError(error: unknown): void {
  expect(error).toBeInstanceOf(OvsdbError);
}
