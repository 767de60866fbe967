/** The in-memory server against clients that do not keep to the protocol. */
import { FakeServer } from '@podwire/ovsdb/fake';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../src/values.js';
import { testSchema } from './compliance/index.js';
import { Peer } from './support/peer.js';

const createServer = (): FakeServer => new FakeServer({ schema: testSchema });

const connect = async (server: FakeServer): Promise<Peer> =>
  new Peer(await server.open('memory', new AbortController().signal));

const word = fc.constantFrom(
  'constructor',
  '__proto__',
  'Parent',
  'name',
  'count',
  'tags',
  '==',
  'includes',
  'insert',
  '+=',
);
const anything = fc.oneof(word, fc.jsonValue({ maxDepth: 3 })) as fc.Arbitrary<Json>;
const list = fc.array(fc.oneof(fc.array(anything, { maxLength: 3 }), anything), { maxLength: 3 });
const operation = fc.record(
  {
    op: fc.oneof(
      fc.constantFrom('insert', 'select', 'update', 'mutate', 'delete', 'wait', 'comment'),
      anything,
    ),
    table: fc.oneof(fc.constant('Parent'), anything),
    row: fc.oneof(fc.dictionary(word, anything, { noNullPrototype: true }), anything),
    where: fc.oneof(list, anything),
    mutations: fc.oneof(list, anything),
    columns: fc.oneof(list, anything),
    rows: fc.oneof(list, anything),
    until: fc.oneof(fc.constantFrom('==', '!='), anything),
    timeout: fc.oneof(fc.constant(0), anything),
    uuid: anything,
    'uuid-name': anything,
  },
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<Json>;

describe('the in-memory server', () => {
  test('answers operations that make no sense, and goes on', () => {
    const server = createServer();
    server.transact({ op: 'insert', table: 'Parent', row: { name: 'kept' } });
    fc.assert(
      fc.property(fc.array(fc.oneof(operation, anything), { minLength: 1, maxLength: 3 }), (operations) => {
        const results = server.transact(...operations, { op: 'abort' });
        expect(
          results.some((result) => typeof result === 'object' && result !== null && 'error' in result),
        ).toBe(true);
      }),
      { numRuns: 300 },
    );
    const [result] = server.transact({ op: 'select', table: 'Parent', where: [], columns: ['name'] });
    expect(result).toEqual({ rows: [{ name: 'kept' }] });
  });

  test.each([
    ['an unknown method', 'constructor', [], 'unknown method'],
    ['an unknown database', 'transact', ['Nothing'], { error: 'unknown database' }],
    ['a monitor of no table', 'monitor_cond', ['Test', 1, { Nothing: {} }], { error: 'syntax error' }],
    [
      'a monitor of no column',
      'monitor_cond',
      ['Test', 1, { Parent: [{ columns: ['x'] }] }],
      { error: 'syntax error' },
    ],
    ['the end of no monitor', 'monitor_cancel', ['x'], { error: 'unknown monitor' }],
  ])('refuses %s', async (_name, method, params, error) => {
    const peer = await connect(createServer());
    peer.send({ id: 1, method, params });
    const answer = await peer.next();
    if (typeof error === 'string') expect(answer.error).toBe(error);
    else expect(answer.error).toMatchObject(error);
  });

  test('refuses a second monitor with the id of another', async () => {
    const peer = await connect(createServer());
    for (const id of [1, 2]) peer.send({ id, method: 'monitor_cond', params: ['Test', 'm', { Single: {} }] });
    expect(await peer.next()).toEqual({ id: 1, result: {}, error: null });
    expect(await peer.next()).toMatchObject({ id: 2, error: { error: 'syntax error' } });
  });

  test('answers a transaction that is cancelled while it waits', async () => {
    const peer = await connect(createServer());
    const wait = { op: 'wait', table: 'Single', where: [], columns: ['value'], until: '!=', rows: [] };
    peer.send({ id: 1, method: 'transact', params: ['Test', wait] });
    peer.send({ id: null, method: 'cancel', params: [1] });
    expect(await peer.next()).toEqual({ id: 1, result: null, error: 'canceled' });
  });

  test('lists its databases, and ends the connection of a client that sends something else than JSON', async () => {
    const peer = await connect(createServer());
    peer.send({ id: 1, method: 'list_dbs', params: [] });
    expect((await peer.next()).result).toEqual(['Test', '_Server']);
    peer.send('no JSON');
    expect(await peer.hasEnded()).toBe(true);
  });
});
