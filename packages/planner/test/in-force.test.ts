import type { Resource } from '@podwire/engine';
import type { Change, Planner } from '@podwire/planner';
import { describe, expect, test } from 'vitest';
import { ModelKernel } from './model-kernel.js';
import { createPlanner, elementOf, type FactMap } from './model-plans.js';

function createFixture() {
  const facts: FactMap = new Map<string, unknown>([['underlay', 'eth0']]);
  const planner = createPlanner(facts);
  const set = (name: string, ...blocks: string[]) => {
    facts.set(`peer/${name}`, { address: '192.0.2.1', blocks });
    planner.noteChanged([`peer/${name}`]);
    planner.markScope(`peer/${name}`);
  };
  return { facts, planner, kernel: new ModelKernel(), set };
}

const { signal } = new AbortController();
const keysOf = (changes: readonly Change<Resource>[]): string[] => changes.map(({ key }) => key);

/** Lets everything run that needs no event, and looks how far the promise is. */
async function stateOf(promise: Promise<void>): Promise<string> {
  let state = 'waits';
  promise.then(
    () => (state = 'in force'),
    (error: unknown) => (state = (error as Error).message),
  );
  await new Promise(setImmediate);
  return state;
}

const wait = (planner: Planner<Resource>, ...scopes: string[]): Promise<void> => {
  const promise = planner.inForce(scopes, { signal });
  promise.catch(() => undefined);
  return promise;
};

describe('a scope that is planned at once', () => {
  test('has its own difference alone, and leaves the marks of others', () => {
    const { planner, set } = createFixture();
    set('a', '10.0.0.0/26');
    planner.replan();
    for (const name of ['b', 'c']) set(name, `10.0.${name === 'b' ? 1 : 2}.0/26`);
    // The parameter that both share is not in force yet, so it is part of it.
    expect(keysOf(planner.planNow('peer/b')).at(-1)).toBe('route 10.0.1.0/26');
    expect(planner.planNow('peer/b')).toHaveLength(2);
    expect(planner.replan()).toEqual(['peer/c']);
  });

  test('gives up its resources at once when it is gone', async () => {
    const { facts, planner, kernel, set } = createFixture();
    set('a', '10.0.0.0/26');
    await kernel.apply(planner, planner.planNow('peer/a'));
    expect(kernel.present.size).toBe(2);
    facts.delete('peer/a');
    await kernel.apply(planner, planner.planNow('peer/a'));
    expect(kernel.present.size).toBe(0);
    expect(planner.isInForce(['peer/a'])).toBe(true);
  });

  test('leaves a key to the call that works on it, and what that call had listed to the plan of now', () => {
    const { facts, planner, kernel, set } = createFixture();
    set('a', '10.0.0.0/26');
    planner.replan();
    const changes = planner.begin(planner.difference());
    set('b', '10.0.1.0/26');
    expect(keysOf(planner.planNow('peer/b'))).toEqual(['route 10.0.1.0/26']);
    planner.abandon(changes);
    expect(planner.difference()).toHaveLength(3);
    const stale = planner.difference();
    facts.delete('peer/b');
    planner.planNow('peer/b');
    expect(keysOf(planner.begin(stale))).toHaveLength(2);
    expect(kernel.calls).toBe(0);
  });
});

describe('waiting until scopes are in force', () => {
  test('ends when the last of them is applied, with all that they had before removed', async () => {
    const { planner, kernel, set } = createFixture();
    set('a', '10.0.0.0/26');
    set('b', '10.0.1.0/26');
    const waiting = wait(planner, 'peer/a', 'peer/b');
    expect(await stateOf(waiting)).toBe('waits');
    await kernel.apply(planner, planner.planNow('peer/a'));
    expect(await stateOf(waiting)).toBe('waits');
    planner.replan();
    expect(await stateOf(waiting)).toBe('waits');
    await kernel.apply(planner);
    expect(await stateOf(waiting)).toBe('in force');
    set('a');
    planner.replan();
    const left = wait(planner, 'peer/a');
    expect(await stateOf(left)).toBe('waits');
    await kernel.apply(planner);
    expect(await stateOf(left)).toBe('in force');
  });

  test('ends with the failure of a call, and can be asked again after a retry', async () => {
    const { planner, kernel, set } = createFixture();
    set('a', '10.0.0.0/26');
    planner.replan();
    const waiting = wait(planner, 'peer/a');
    kernel.fates = ['refused'];
    await kernel.apply(planner);
    expect(await stateOf(waiting)).toBe('refused');
    expect(await stateOf(wait(planner, 'peer/a'))).toBe('refused');
    planner.retry();
    const again = wait(planner, 'peer/a');
    expect(await stateOf(again)).toBe('waits');
    await kernel.apply(planner);
    expect(await stateOf(again)).toBe('in force');
  });

  test('goes on through a call that was given up', async () => {
    const { planner, kernel, set } = createFixture();
    set('a', '10.0.0.0/26');
    planner.replan();
    const waiting = wait(planner, 'peer/a');
    kernel.fates = ['aborted'];
    await expect(kernel.apply(planner)).rejects.toThrow('aborted');
    expect(await stateOf(waiting)).toBe('waits');
    await kernel.apply(planner);
    expect(await stateOf(waiting)).toBe('in force');
  });

  test('ends with the message of a conflict for the scope that has lost it', async () => {
    const { planner, kernel, set, facts } = createFixture();
    set('a', '10.0.0.0/26');
    facts.set('peer/b', { address: '192.0.2.2', blocks: ['10.0.0.0/26'] });
    planner.markScope('peer/b');
    planner.replan();
    await kernel.apply(planner);
    expect(planner.isInForce(['peer/a'])).toBe(true);
    expect(await stateOf(wait(planner, 'peer/b'))).toBe(
      'route 10.0.0.0/26: peer/a has it; peer/b wants it differently',
    );
  });

  test('ends with the reason of its signal', async () => {
    const { planner, set } = createFixture();
    set('a', '10.0.0.0/26');
    const controller = new AbortController();
    const waiting = planner.inForce(['peer/a'], { signal: controller.signal });
    controller.abort(new Error('the runtime has given up'));
    await expect(waiting).rejects.toThrow('the runtime has given up');
  });

  test('counts members of collections, and those that are noted but not planned', async () => {
    const { facts, planner, kernel } = createFixture();
    const members = new Set<string>();
    facts.set('set/x', members);
    facts.set('peer/a', { address: '192.0.2.1', blocks: [], joins: ['x'] });
    await kernel.apply(planner, planner.planNow('peer/a'));
    expect(planner.isInForce(['peer/a'])).toBe(true);
    members.add('10.1.0.1');
    planner.noteMembers('set/x', ['10.1.0.1']);
    expect(planner.isInForce(['peer/a'])).toBe(false);
    planner.replan();
    expect(planner.isInForce(['peer/a'])).toBe(false);
    await kernel.apply(planner);
    expect(planner.isInForce(['peer/a'])).toBe(true);
    expect([...kernel.present.values()]).toContainEqual(elementOf('x', '10.1.0.1'));
  });
});
