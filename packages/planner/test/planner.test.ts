import { describe, expect, test } from 'vitest';
import { ModelKernel } from './model-kernel.js';
import {
  createPlanner,
  type FactMap,
  type PeerFact,
  planFromNothing,
  planPeer,
  sorted,
} from './model-plans.js';

const fact = (address: string, ...blocks: string[]): PeerFact => ({ address, blocks });

const peers = (...list: readonly (readonly [string, PeerFact])[]): FactMap =>
  new Map<string, unknown>([
    ['underlay', 'eth0'],
    ...list.map(([name, value]) => [`peer/${name}`, value] as const),
  ]);

describe('plans', () => {
  test('run only when a fact that they have read changes', () => {
    const facts = peers();
    const planned: string[] = [];
    const planner = createPlanner(facts, {
      plan(scope, read) {
        planned.push(scope);
        return planPeer(scope, read);
      },
    });
    for (let n = 0; n < 100; n++) {
      facts.set(`peer/${n}`, fact('192.0.2.1', `10.0.${n}.0/26`));
      planner.markScope(`peer/${n}`);
    }
    planner.replan();
    planned.length = 0;
    facts.set('peer/7', fact('192.0.2.2', '10.0.7.0/26'));
    planner.noteChanged(['peer/7', 'peer/that no plan reads']);
    expect(planner.replan()).toEqual(['peer/7']);
    expect(planned).toEqual(['peer/7']);
    facts.set('underlay', 'eth1');
    planner.noteChanged(['underlay']);
    expect(planner.replan(60)).toHaveLength(60);
    expect(planner.replan()).toHaveLength(40);
  });

  test('keep the list of a scope when they throw, and run again when what they have read changes', () => {
    const facts = peers(['a', fact('192.0.2.1', '10.0.0.0/26')]);
    const errors: string[] = [];
    const planner = createPlanner(facts, {
      plan(scope, read) {
        if (read('underlay') === 'broken') throw new Error('broken');
        return planPeer(scope, read);
      },
      onPlanError: (scope) => errors.push(scope),
    });
    planner.markScope('peer/a');
    planner.replan();
    const before = planner.planned();
    facts.set('underlay', 'broken');
    planner.noteChanged(['underlay']);
    planner.replan();
    expect(errors).toEqual(['peer/a']);
    expect(planner.planned()).toEqual(before);
    facts.set('underlay', 'eth0');
    planner.noteChanged(['underlay']);
    expect(planner.replan()).toEqual(['peer/a']);
  });
});

describe('keys', () => {
  test('share a resource that two scopes want alike; it goes with the last of them', async () => {
    const facts = peers(['a', fact('192.0.2.1')], ['b', fact('192.0.2.2')]);
    const [planner, kernel] = [createPlanner(facts), new ModelKernel()];
    for (const name of ['peer/a', 'peer/b']) planner.markScope(name);
    planner.replan();
    expect(await kernel.apply(planner)).toMatchObject({ added: 1, removed: 0 });
    expect(planner.conflicts()).toEqual([]);
    expect([planner.resourcesOf('peer/a'), planner.resourcesOf('peer/b')].flat()).toHaveLength(1);
    for (const [name, left] of [
      ['peer/a', 1],
      ['peer/b', 0],
    ] as const) {
      facts.set(name, undefined);
      planner.noteChanged([name]);
      planner.replan();
      await kernel.apply(planner);
      expect(kernel.present.size).toBe(left);
    }
    expect([...planner.scopes]).toEqual([]);
  });

  test('belong to the first scope by name where two want different things, and to the other when that goes', async () => {
    const facts = peers(['a', fact('192.0.2.1', '10.0.0.0/26')], ['b', fact('192.0.2.2', '10.0.0.0/26')]);
    const [planner, kernel] = [createPlanner(facts), new ModelKernel()];
    for (const name of ['peer/b', 'peer/a']) {
      planner.markScope(name);
      planner.replan();
      await kernel.apply(planner);
    }
    const key = 'route 10.0.0.0/26';
    expect(planner.conflicts()).toEqual([
      {
        ...{ key, winner: 'peer/a', losers: ['peer/b'], priority: 0 },
        message: `${key}: peer/a has it; peer/b wants it differently`,
      },
    ]);
    expect(kernel.present.get(key)).toMatchObject({ gateway: '192.0.2.1' });
    facts.set('peer/a', undefined);
    planner.noteChanged(['peer/a']);
    planner.replan();
    await kernel.apply(planner);
    expect(planner.conflicts()).toEqual([]);
    expect(kernel.present.get(key)).toMatchObject({ gateway: '192.0.2.2' });
  });

  test('belong to the highest priority before the name counts', () => {
    const facts = peers(
      ['a', fact('192.0.2.1', '10.0.0.0/26')],
      ['b', { ...fact('192.0.2.2', '10.0.0.0/26'), priority: 5 }],
      ['c', fact('192.0.2.3', '10.0.0.0/26')],
    );
    const planner = createPlanner(facts, { describe: ({ kind }) => `the ${kind}` });
    for (const name of ['peer/c', 'peer/a', 'peer/b']) planner.markScope(name);
    planner.replan();
    const [conflict] = planner.conflicts();
    expect(conflict).toMatchObject({ winner: 'peer/b', losers: ['peer/a', 'peer/c'], priority: 5 });
    expect(conflict!.message).toBe(
      'the route: peer/b has it with priority 5; peer/a, peer/c want it differently',
    );
    facts.set('peer/b', fact('192.0.2.2', '10.0.0.0/26'));
    planner.noteChanged(['peer/b']);
    planner.replan();
    expect(planner.conflicts()[0]).toMatchObject({ winner: 'peer/a', losers: ['peer/b', 'peer/c'] });
    expect(planner.conflictCount).toBe(1);
  });

  test('get other content by a replacement, which names the old and the new', async () => {
    const facts = peers(['a', fact('192.0.2.1', '10.0.0.0/26')]);
    const [planner, kernel] = [createPlanner(facts), new ModelKernel()];
    planner.markScope('peer/a');
    planner.replan();
    expect(planner.difference().map(({ action }) => action)).toEqual(['add', 'add']);
    await kernel.apply(planner);
    facts.set('peer/a', fact('192.0.2.9', '10.0.0.0/26'));
    planner.noteChanged(['peer/a']);
    planner.replan();
    expect(planner.difference()).toMatchObject([
      {
        ...{ action: 'replace', scope: 'peer/a', from: 'peer/a' },
        ...{ remove: [{ gateway: '192.0.2.1' }], add: { gateway: '192.0.2.9' } },
      },
    ]);
    await kernel.apply(planner);
    facts.set('peer/a', undefined);
    facts.set('peer/b', fact('192.0.2.2', '10.0.0.0/26'));
    planner.noteChanged(['peer/a']);
    planner.markScope('peer/b');
    planner.replan();
    expect(planner.difference()).toMatchObject([
      { key: 'route 10.0.0.0/26', action: 'move', scope: 'peer/b', from: 'peer/a' },
    ]);
  });

  test('that scopes share stay with the one they were applied for when all want other content', async () => {
    const shared = new Map<string, unknown>([['underlay', 'one']]);
    const planner = createPlanner(shared, {
      plan: (_, read) => [{ kind: 'route', in: 'host', destination: '10.0.0.0/8', link: read('underlay') }],
    });
    for (const name of ['peer/c', 'peer/b', 'peer/a']) planner.markScope(name);
    planner.replan();
    await new ModelKernel().apply(planner);
    shared.set('underlay', 'two');
    planner.noteChanged(['underlay']);
    planner.replan();
    expect(planner.difference()).toMatchObject([{ action: 'replace', scope: 'peer/c', from: 'peer/c' }]);
  });

  test('one scope that is refused does not keep the others from being applied', async () => {
    const facts = peers();
    const [planner, kernel] = [createPlanner(facts), new ModelKernel()];
    for (let n = 0; n < 5; n++) {
      facts.set(`peer/${n}`, fact('192.0.2.1', `10.0.${n}.0/26`));
      planner.markScope(`peer/${n}`);
    }
    kernel.present.set('route 10.0.3.0/26', { kind: 'route', in: 'host', destination: '10.0.3.0/26' });
    planner.replan();
    const { failed } = await kernel.apply(planner);
    expect([...failed.keys()]).toEqual(['peer/3']);
    expect(kernel.present.size).toBe(6);
    expect(planner.difference()).toEqual([]);
    kernel.present.delete('route 10.0.3.0/26');
    planner.retry();
    expect((await kernel.apply(planner)).failed.size).toBe(0);
    expect(sorted(kernel.present)).toEqual(sorted(planFromNothing(facts).planned()));
  });

  test('what was applied by an earlier run is not applied again', async () => {
    const facts = peers(['a', fact('192.0.2.1', '10.0.0.0/26')]);
    const [planner, kernel] = [createPlanner(facts), new ModelKernel()];
    planner.markScope('peer/b');
    planner.adopt(['peer/a']);
    expect(await kernel.apply(planner)).toMatchObject({ added: 0, removed: 0 });
    expect(kernel.calls).toBe(0);
    facts.set('peer/b', fact('192.0.2.2', '10.0.1.0/26'));
    expect(planner.replan()).toEqual(['peer/b']);
    expect(await kernel.apply(planner)).toMatchObject({ added: 1, removed: 0 });
  });
});
