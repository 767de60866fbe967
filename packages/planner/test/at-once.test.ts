import { applyAtOnce } from '@podwire/planner';
import { expect, test } from 'vitest';
import { ModelKernel } from './model-kernel.js';
import { createPlanner, type FactMap, type PeerFact } from './model-plans.js';

const fact = (address: string, ...blocks: string[]): PeerFact => ({ address, blocks });

function createWorld() {
  const facts: FactMap = new Map<string, unknown>([
    ['underlay', 'eth0'],
    ['peer/a', fact('192.0.2.1', '10.0.0.0/26', '10.0.1.0/26')],
  ]);
  const kernel = new ModelKernel();
  const options = { engine: kernel.engine, owner: { owner: 'a' }, signal: new AbortController().signal };
  return { facts, kernel, planner: createPlanner(facts), options };
}

test('carries changes out in one call', async () => {
  const { kernel, planner, options } = createWorld();
  await applyAtOnce(planner, planner.planNow('peer/a'), options);
  expect(kernel.calls).toBe(1);
  expect(kernel.present.size).toBe(planner.planned().size);
  expect(planner.difference()).toEqual([]);
});

test('makes no call where nothing has to happen', async () => {
  const { kernel, planner, options } = createWorld();
  await applyAtOnce(planner, [], options);
  expect(kernel.calls).toBe(0);
});

test('throws the error of the engine, and is tried again with the next difference', async () => {
  const { kernel, planner, options } = createWorld();
  kernel.fates = ['refused'];
  await expect(applyAtOnce(planner, planner.planNow('peer/a'), options)).rejects.toThrow();
  expect(kernel.present.size).toBe(0);
  await applyAtOnce(planner, planner.difference(), options);
  expect(kernel.present.size).toBe(planner.planned().size);
});

test('finishes a removal that an earlier call for the scope has not brought to its end', async () => {
  const { facts, kernel, planner, options } = createWorld();
  await applyAtOnce(planner, planner.planNow('peer/a'), options);
  facts.set('peer/a', fact('192.0.2.1', '10.0.0.0/26'));
  const refused = { ...options, engine: { change: () => Promise.reject(new Error('refused')) } };
  await expect(applyAtOnce(planner, planner.planNow('peer/a'), refused)).rejects.toThrow('refused');
  const again = planner.planNow('peer/a');
  expect(again.map(({ key, action }) => [key, action])).toEqual([['route 10.0.1.0/26', 'remove']]);
  await applyAtOnce(planner, again, options);
  expect(kernel.present.size).toBe(planner.planned().size);
  expect(planner.planNow('peer/a')).toEqual([]);
});
