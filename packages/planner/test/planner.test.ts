import type { Resource } from '@podwire/engine';
import { applyDifference, Planner } from '@podwire/planner';
import { silentLog } from '@podwire/platform';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Fate, keyOf, ModelKernel, type PeerFact, planPeer } from './model-kernel.js';

type Facts = Map<string, unknown>;

function createPlanner(facts: Facts, onPlan: (scope: string) => void = () => undefined): Planner<Resource> {
  return new Planner<Resource>({
    plan(scope, read) {
      onPlan(scope);
      return planPeer(scope, read);
    },
    readFact: (fact) => facts.get(fact),
    keyOf,
  });
}

const peersOf = (facts: Facts): string[] => [...facts.keys()].filter((key) => key.startsWith('peer/'));

function planFromNothing(facts: Facts): Map<string, Resource> {
  const planner = createPlanner(facts);
  for (const peer of peersOf(facts)) planner.markScope(peer);
  planner.replan();
  return planner.planned();
}

const sorted = (planned: ReadonlyMap<string, Resource>) => [...planned].sort(([a], [b]) => (a < b ? -1 : 1));

async function apply(planner: Planner<Resource>, kernel: ModelKernel) {
  kernel.abort = new AbortController();
  return await applyDifference(planner, {
    engine: kernel.engine,
    signal: kernel.abort.signal,
    log: silentLog,
    ownerOf: (scope) => scope.replace('/', ':'),
    arrange: (resources) => [...resources],
  });
}

const peer = fc.record({
  address: fc.constantFrom('192.0.2.1', '192.0.2.2'),
  blocks: fc.uniqueArray(fc.constantFrom('10.0.0.0/26', '10.0.1.0/26', '10.0.2.0/26'), { maxLength: 3 }),
});
const event = fc.oneof(
  {
    arbitrary: fc.tuple(fc.constantFrom('peer/a', 'peer/b', 'peer/c'), fc.option(peer, { nil: undefined })),
    weight: 4,
  },
  fc.tuple(fc.constant('underlay'), fc.constantFrom('eth0', 'eth1')),
  fc.tuple(
    fc.constant('apply'),
    fc.array(fc.constantFrom<Fate>('done', 'refused', 'aborted'), { maxLength: 6 }),
  ),
);

describe('after any sequence of changes', () => {
  test('the planned state is the one planned from nothing, and the kernel follows it through failures', async () => {
    const property = fc.asyncProperty(fc.array(event, { maxLength: 30 }), async (events) => {
      const facts: Facts = new Map([['underlay', 'eth0']]);
      const planner = createPlanner(facts);
      const kernel = new ModelKernel();
      for (const [name, value] of events) {
        if (name === 'apply') {
          kernel.fates = [...value];
          planner.replan();
          await apply(planner, kernel).catch(() => undefined);
          continue;
        }
        facts.set(name, value);
        planner.noteChanged([name]);
        if (name !== 'underlay') planner.markScope(name);
      }
      planner.replan();
      expect(sorted(planner.planned())).toEqual(sorted(planFromNothing(facts)));
      kernel.fates = [];
      planner.retry();
      await apply(planner, kernel);
      expect(sorted(kernel.present)).toEqual(sorted(planFromNothing(facts)));
      expect(planner.difference()).toEqual([]);
    });
    await fc.assert(property, { numRuns: 500 });
  });
});

const fact = (address: string, ...blocks: string[]): PeerFact => ({ address, blocks });

describe('plans', () => {
  test('run only when a fact that they have read changes', () => {
    const facts: Facts = new Map([['underlay', 'eth0']]);
    const planned: string[] = [];
    const planner = createPlanner(facts, (scope) => planned.push(scope));
    for (let n = 0; n < 100; n++) {
      facts.set(`peer/${n}`, fact('192.0.2.1', `10.0.${n}.0/26`));
      planner.markScope(`peer/${n}`);
    }
    planner.replan();
    planned.length = 0;
    facts.set('peer/7', fact('192.0.2.2', '10.0.7.0/26'));
    planner.noteChanged(['peer/7', 'no plan reads this']);
    expect(planner.replan()).toEqual(['peer/7']);
    expect(planned).toEqual(['peer/7']);
    planner.noteChanged(['underlay']);
    expect(planner.replan(60)).toHaveLength(60);
    expect(planner.replan()).toHaveLength(40);
  });

  test('a plan that throws leaves what the scope wanted, and runs again when what it read changes', () => {
    const facts: Facts = new Map<string, unknown>([
      ['underlay', 'eth0'],
      ['peer/a', fact('192.0.2.1', '10.0.0.0/26')],
    ]);
    const errors: string[] = [];
    const planner = new Planner<Resource>({
      plan(scope, read) {
        if (read('is broken') === true) throw new Error('broken');
        return planPeer(scope, read);
      },
      ...{ readFact: (name) => facts.get(name), keyOf, onPlanError: (scope) => errors.push(scope) },
    });
    planner.markScope('peer/a');
    planner.replan();
    const before = planner.planned();
    facts.set('is broken', true);
    planner.noteChanged(['is broken']);
    planner.replan();
    expect(errors).toEqual(['peer/a']);
    expect(planner.planned()).toEqual(before);
    facts.set('is broken', false);
    planner.noteChanged(['is broken']);
    expect(planner.replan()).toEqual(['peer/a']);
  });
});

describe('keys', () => {
  test('what two scopes want alike is there once, and goes with the last of them', async () => {
    const facts: Facts = new Map<string, unknown>([
      ['underlay', 'eth0'],
      ['peer/a', fact('192.0.2.1')],
      ['peer/b', fact('192.0.2.2')],
    ]);
    const [planner, kernel] = [createPlanner(facts), new ModelKernel()];
    for (const name of ['peer/a', 'peer/b']) planner.markScope(name);
    planner.replan();
    expect(await apply(planner, kernel)).toMatchObject({ added: 1, removed: 0 });
    expect(planner.conflicts()).toEqual([]);
    expect([planner.resourcesOf('peer/a'), planner.resourcesOf('peer/b')].flat()).toHaveLength(1);
    for (const [name, left] of [
      ['peer/a', 1],
      ['peer/b', 0],
    ] as const) {
      facts.set(name, undefined);
      planner.noteChanged([name]);
      planner.replan();
      await apply(planner, kernel);
      expect(kernel.present.size).toBe(left);
    }
    expect([...planner.scopes]).toEqual([]);
  });

  test('what two scopes want differently has the one that comes first by name; the other gets it when that goes', async () => {
    const facts: Facts = new Map<string, unknown>([
      ['underlay', 'eth0'],
      ['peer/a', fact('192.0.2.1', '10.0.0.0/26')],
      ['peer/b', fact('192.0.2.2', '10.0.0.0/26')],
    ]);
    const [planner, kernel] = [createPlanner(facts), new ModelKernel()];
    for (const name of ['peer/b', 'peer/a']) {
      planner.markScope(name);
      planner.replan();
      await apply(planner, kernel);
    }
    const key = 'route 10.0.0.0/26';
    expect(planner.conflicts()).toEqual([{ key, winner: 'peer/a', losers: ['peer/b'] }]);
    expect(kernel.present.get(key)).toMatchObject({ gateway: '192.0.2.1' });
    facts.set('peer/a', undefined);
    planner.noteChanged(['peer/a']);
    planner.replan();
    await apply(planner, kernel);
    expect(planner.conflicts()).toEqual([]);
    expect(kernel.present.get(key)).toMatchObject({ gateway: '192.0.2.2' });
  });

  test('one scope that is refused does not keep the others from being applied', async () => {
    const facts: Facts = new Map<string, unknown>([['underlay', 'eth0']]);
    const [planner, kernel] = [createPlanner(facts), new ModelKernel()];
    for (let n = 0; n < 5; n++) {
      facts.set(`peer/${n}`, fact('192.0.2.1', `10.0.${n}.0/26`));
      planner.markScope(`peer/${n}`);
    }
    kernel.present.set('route 10.0.3.0/26', { kind: 'route', in: 'host', destination: '10.0.3.0/26' });
    planner.replan();
    const { failed } = await apply(planner, kernel);
    expect([...failed.keys()]).toEqual(['peer/3']);
    expect(kernel.present.size).toBe(6);
    expect(planner.difference()).toEqual([]);
    kernel.present.delete('route 10.0.3.0/26');
    planner.retry();
    expect((await apply(planner, kernel)).failed.size).toBe(0);
    expect(sorted(kernel.present)).toEqual(sorted(planFromNothing(facts)));
  });

  test('what was applied by an earlier run is not applied again', async () => {
    const facts: Facts = new Map<string, unknown>([
      ['underlay', 'eth0'],
      ['peer/a', fact('192.0.2.1', '10.0.0.0/26')],
    ]);
    const [planner, kernel] = [createPlanner(facts), new ModelKernel()];
    planner.markScope('peer/b');
    planner.adopt(['peer/a']);
    expect(await apply(planner, kernel)).toMatchObject({ added: 0, removed: 0 });
    expect(kernel.calls).toBe(0);
    facts.set('peer/b', fact('192.0.2.2', '10.0.1.0/26'));
    expect(planner.replan()).toEqual(['peer/b']);
    expect(await apply(planner, kernel)).toMatchObject({ added: 1, removed: 0 });
  });
});
