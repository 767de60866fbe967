/** Servers that end, and clients that find their way back. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Cache, CacheEvent, OvsdbClient, Row } from '@podwire/ovsdb';
import { type Case, insertParent, select } from './environment.js';

/** Resolves with the event that ends a disconnect. */
function untilResynchronised(cache: Cache<never>): Promise<CacheEvent> {
  return new Promise((resolve) => {
    const unsubscribe = cache.subscribe((event) => {
      if (event.cause === 'update') return;
      unsubscribe();
      resolve(event);
    });
  });
}

const add = (client: OvsdbClient, name: string): Promise<unknown> => client.transact([insertParent(name)]);

export const reconnectCases: readonly Case[] = [
  {
    name: 'after a restart a client goes on, and a cache says how it came back',
    run: async ({ client, target, connect }) => {
      await add(client, 'a');
      const cache = await client.monitor({ Parent: {} });
      await add(client, 'b');
      const back = untilResynchronised(cache as unknown as Cache<never>);
      await target.restart();
      await add(connect(), 'c');
      const { cause } = await back;
      assert.equal(cause, target.knowsTransactions ? 'resumed' : 'purged');
      await cache.until((own) => own.rows('Parent').size === 3);
      await add(client, 'd');
      assert.equal(cache.rows('Parent').size, 4);
      assert.equal(cache.isCurrent, true);
    },
  },
  {
    name: 'after a restore of an empty database a cache is purged: it has what is there now',
    run: async ({ client, target }) => {
      await add(client, 'a');
      const cache = await client.monitor(
        { Parent: {} },
        { indexes: { Parent: { name: (row: Row) => row['name'] as string } } },
      );
      const back = untilResynchronised(cache as unknown as Cache<never>);
      await target.erase();
      const { cause, changes } = await back;
      assert.deepEqual([cause, changes.map(({ type }) => type)], ['purged', ['delete']]);
      assert.equal(cache.rows('Parent').size, 0);
      assert.deepEqual(cache.find('Parent', 'name', 'a'), []);
      await add(client, 'b');
      assert.equal(cache.find('Parent', 'name', 'b').length, 1);
    },
  },
  {
    name: 'a call that has no answer at a disconnect has an unknown outcome; the next one waits for the server',
    run: async ({ client, target }) => {
      await add(client, 'a');
      await target.freeze();
      const pending = assert.rejects(add(client, 'b'), { code: 'OUTCOME_UNKNOWN' });
      const lost = once(stateChanges(client), 'disconnected');
      await target.restart();
      await pending;
      await lost;
      await add(client, 'c');
      assert.ok((await select(client, 'Parent', ['name'])).length >= 2);
    },
  },
  {
    name: 'a call that finds no server in time was not sent',
    run: async ({ connect }) => {
      const client = connect({ endpoints: ['unix:/nonexistent/db.sock'], open: undefined as never });
      await assert.rejects(client.transact([insertParent('a')], { timeout: 50 }), { code: 'NOT_SENT' });
      const controller = new AbortController();
      const call = client.transact([insertParent('a')], { signal: controller.signal });
      controller.abort(new Error('enough'));
      await assert.rejects(call, { message: 'enough' });
    },
  },
  {
    name: 'a closed client sends nothing any more',
    run: async ({ client }) => {
      await add(client, 'a');
      await client.close();
      await assert.rejects(add(client, 'b'), { code: 'NOT_SENT' });
    },
  },
  {
    name: 'a database that the server does not have is never used',
    run: async ({ connect }) => {
      const client = connect({ database: 'Nothing' });
      await once(stateChanges(client), 'it does not serve the database Nothing');
      await assert.rejects(client.schema({ timeout: 1 }), { code: 'NOT_SENT' });
    },
  },
];

/** An event for each disconnect, and one with the reason as its name. */
function stateChanges(client: OvsdbClient): EventTarget {
  const changes = new EventTarget();
  client.subscribe((state) => {
    if (state.connected) return;
    changes.dispatchEvent(new Event('disconnected'));
    changes.dispatchEvent(new Event(state.reason?.message.replace(/.* is not used: /, '') ?? 'none'));
  });
  return changes;
}
