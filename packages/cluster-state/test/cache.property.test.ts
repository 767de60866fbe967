/** Whatever happens to store and watch, the cache ends as the store is. */
import { silentLog } from '@podwire/platform';
import { decodeObject, encodeObject } from '@podwire/store';
import { createMemoryServer } from '@podwire/store/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Block, blockKind, keysBelow, openClusterCache } from '../src/index.js';

const keys = keysBelow('/podwire');
const nodes = ['a', 'b', 'c'];

const cidrOf = (number: number): string => `10.0.${number}.0/26`;
const block = (number: number, owner: number, lent: boolean): Block => ({
  cidr: cidrOf(number),
  node: nodes[owner]!,
  instance: 'i',
  state: 'confirmed',
  claimedAt: 0,
  loans: lent ? [{ address: `10.0.${number}.9`, node: nodes[(owner + 1) % 3]! }] : [],
});

const step = fc.oneof(
  fc.record({
    do: fc.constant('put' as const),
    at: fc.nat(7),
    owner: fc.nat(2),
    lent: fc.boolean(),
    noted: fc.boolean(),
  }),
  fc.record({ do: fc.constant('delete' as const), at: fc.nat(7), noted: fc.boolean() }),
  fc.record({
    do: fc.constantFrom('compact' as const, 'cut' as const, 'restore' as const, 'a turn' as const),
  }),
);

test('the cache and its block index converge to the store', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const server = createMemoryServer();
      const [writer, follower] = [server.connect(), server.connect()];
      const cache = openClusterCache({ store: follower, keys, log: silentLog });
      await cache.synced;
      for (const each of steps) {
        if (each.do === 'put') {
          const value = block(each.at, each.owner, each.lent);
          const key = keys.block(value.cidr);
          const revision = await writer.put(key, encodeObject(blockKind, value));
          if (each.noted) cache.note(key, value, revision);
        } else if (each.do === 'delete') {
          const key = keys.block(cidrOf(each.at));
          if ((await writer.delete(key)) && each.noted) cache.noteGone(key, server.revision);
        } else if (each.do === 'compact') server.compact();
        else if (each.do === 'cut') follower.cut();
        else if (each.do === 'restore') follower.restore();
        else await new Promise(setImmediate);
      }
      follower.restore();
      const last = await writer.put(`${keys.root}/shared/mark`, '');
      await cache.reached(last, AbortSignal.timeout(10_000));

      const { items } = await writer.list(`${keys.root}/shared/blocks/`);
      const truth = items.map((item) => decodeObject(blockKind, item.key, item.value));
      expect([...cache.blocks.values()].map(({ value }) => value.cidr).sort()).toEqual(
        truth.map(({ cidr }) => cidr).sort(),
      );
      for (const value of truth) expect(cache.blocks.get(value.cidr)?.value).toEqual(value);
      for (const node of nodes) {
        expect([...cache.blocksOf(node)]).toEqual(
          truth.filter((one) => one.node === node).map(({ cidr }) => cidr),
        );
        const lent = truth
          .flatMap(({ loans }) => loans.filter((loan) => loan.node === node))
          .map(({ address }) => address);
        expect([...cache.borrowedBy(node)].sort()).toEqual(lent.sort());
      }
      await cache.close();
      await Promise.all([writer.close(), follower.close()]);
    }),
    { numRuns: 150 },
  );
});
