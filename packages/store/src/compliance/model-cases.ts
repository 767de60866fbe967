/** Random work from two clients, against the plainest of all stores, and seen through watches. */
import assert from 'node:assert/strict';
import type { Expectation, Item, Store, Transaction, Write } from '../contract.js';
import type { CaseContext, StoreCase } from './target.js';
import { openWatch } from './tools.js';

/** Numbers below `limit`, always the same for one seed (Marsaglia's xorshift). */
function createRandom(seed: number): (limit: number) => number {
  let state = seed | 1;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

interface Model {
  readonly items: Map<string, Item>;
  readonly folder: string;
  readonly random: (limit: number) => number;
}

const pick = <T>({ random }: Model, from: readonly T[]): T =>
  from[random(from.length)] ?? assert.fail('nothing to choose from');

const names = ['a', 'b', 'c', 'a/b', 'a/bc', 'a/b/c', 'd/e', 'd/e/f'];

/** Mostly what holds. */
function pickExpectation(model: Model, key: string): Expectation {
  const item = model.items.get(key);
  const right = item === undefined ? 'absent' : item.revision;
  const others = [...model.items.values()].map(({ revision }): Expectation => revision);
  return model.random(3) > 0 ? right : pick(model, ['absent' as const, right, ...others]);
}

function makeTransaction(model: Model, operations: number): Transaction {
  const size = 1 + model.random(Math.min(4, operations));
  const keys = new Set(Array.from({ length: size }, () => model.folder + pick(model, names)));
  const writes = Array.from(keys, (key): Write =>
    model.random(3) === 0 ? { op: 'delete', key } : { op: 'put', key, value: String(model.random(1000)) },
  );
  const about = Array.from({ length: model.random(3) }, () => model.folder + pick(model, names));
  const conditions = about.map((key) => ({ key, expect: pickExpectation(model, key) }));
  return { conditions, writes };
}

async function step(model: Model, store: Store): Promise<void> {
  const transaction = makeTransaction(model, store.limits.operations);
  const { conditions, writes } = transaction;
  const found = conditions.map(({ key }) => model.items.get(key));
  const holds = conditions.every(({ expect }, at) =>
    expect === 'absent' ? found[at] === undefined : found[at]?.revision === expect,
  );
  const outcome = await store.transact(transaction);
  assert.equal(outcome.committed, holds);
  if (!outcome.committed) {
    assert.deepEqual(outcome.found, found);
    return;
  }
  for (const write of writes)
    if (write.op === 'delete') model.items.delete(write.key);
    else model.items.set(write.key, { key: write.key, value: write.value, revision: outcome.revision });
}

const inOrder = (items: Iterable<Item>): readonly Item[] =>
  [...items].sort((one, other) => (one.key < other.key ? -1 : 1));

async function runModel({ store, another, folder }: CaseContext, seed: number): Promise<void> {
  const model: Model = { items: new Map(), folder, random: createRandom(seed) };
  const clients = [store, await another()];
  const watches = clients.map((client) => openWatch(client, folder));
  for (let steps = 0; steps < 150; steps++) {
    await step(model, pick(model, clients));
    if (steps % 10 > 0) continue;
    const prefix = folder + pick(model, ['', 'a', 'a/', 'a/b', 'a/b/', 'd/']);
    const { items } = await pick(model, clients).list(prefix);
    const expected = inOrder(model.items.values()).filter(({ key }) => key.startsWith(prefix));
    assert.deepEqual(items, expected, `${prefix} after ${steps} steps`);
  }
  const end = await store.put(`${folder}end`, 'x');
  model.items.set(`${folder}end`, { key: `${folder}end`, value: 'x', revision: end });
  for (const watch of watches) {
    await watch.until('the end', (copy) => copy.has(`${folder}end`));
    assert.deepEqual(inOrder(watch.copy.values()), inOrder(model.items.values()));
    await watch.end();
  }
}

export const modelCases: readonly StoreCase[] = [
  {
    title: 'random work from two clients does what a plain map would, and watches tell it',
    run: async (context) => {
      const seed = Math.trunc(Math.random() * 2 ** 31);
      await runModel(context, seed).catch((error: unknown) => {
        throw new Error(`with seed ${seed}`, { cause: error });
      });
    },
  },
];
