import { collect, Planner } from '@podwire/planner';
import { describe, expect, test } from 'vitest';

interface Item {
  readonly key: string;
  readonly value: string;
}

declare module '@podwire/planner' {
  interface FactKinds {
    /** Values by the name of a member. */
    group: ReadonlyMap<string, string> | undefined;
    /** Names of the groups that a scope joins. */
    joins: readonly string[] | undefined;
  }
}

function createFixture() {
  const groups = new Map<string, Map<string, string>>();
  const joins = new Map<string, readonly string[]>();
  const work = { plans: 0, members: 0 };
  const planner = new Planner<Item>({
    plan(scope, read) {
      work.plans += 1;
      const joined = read(`joins/${scope}`);
      if (joined === undefined) return undefined;
      const collections = joined.map((group) =>
        collect(`group/${group}`, (name, members) => {
          work.members += 1;
          const value = members.get(name)!;
          if (value === 'broken') throw new Error(`${name} is broken`);
          return [{ key: `${group} ${name}`, value }];
        }),
      );
      return { resources: [{ key: scope, value: '' }], collections };
    },
    sources: { joins: (id) => joins.get(id), group: (id) => groups.get(id) },
    keyOf: ({ key }) => key,
  });
  const join = (scope: string, list: readonly string[] | undefined) => {
    if (list === undefined) joins.delete(scope);
    else joins.set(scope, list);
    planner.markScope(scope);
    return apply();
  };
  const setMember = (group: string, name: string, value: string | undefined) => {
    if (value === undefined) groups.get(group)!.delete(name);
    else groups.get(group)!.set(name, value);
    planner.noteMembers(`group/${group}`, [name]);
    return apply();
  };
  const apply = () => {
    planner.replan();
    const changes = planner.difference();
    planner.succeed(changes);
    return changes.map(({ action, key }) => `${action} ${key}`);
  };
  return { planner, groups, joins, work, join, setMember };
}

const members = (count: number, value = ''): Map<string, string> =>
  new Map(Array.from({ length: count }, (_, index) => [`m${index}`, value]));

describe('a collection', () => {
  test('costs one member when one comes, changes or goes, and runs no plan', () => {
    const { groups, work, join, setMember } = createFixture();
    groups.set('g', members(1_000));
    expect(join('s', ['g'])).toHaveLength(1_001);
    Object.assign(work, { plans: 0, members: 0 });
    expect(setMember('g', 'new', 'one')).toEqual(['add g new']);
    expect(setMember('g', 'new', 'two')).toEqual(['replace g new']);
    expect(setMember('g', 'new', undefined)).toEqual(['remove g new']);
    expect(setMember('g', 'none', undefined)).toEqual([]);
    expect(work).toEqual({ plans: 0, members: 2 });
  });

  test('keeps an element that two scopes give until the last of them leaves', () => {
    const { planner, groups, join, setMember } = createFixture();
    groups.set('g', members(2));
    join('s', ['g']);
    expect(join('t', ['g'])).toEqual(['add t']);
    expect(join('s', undefined)).toEqual(['remove s']);
    expect(setMember('g', 'm0', undefined)).toEqual(['remove g m0']);
    expect(join('t', [])).toEqual(['remove g m1']);
    expect(planner.sizeOf('t')).toBe(1);
    expect(setMember('g', 'm7', 'no scope listens')).toEqual([]);
  });

  test('takes a member’s change into account that comes while its scope is marked', () => {
    const { planner, groups, join, work } = createFixture();
    groups.set('g', members(3));
    join('s', ['g']);
    work.plans = 0;
    for (const name of ['m0', 'm1']) groups.get('g')!.delete(name);
    planner.noteMembers('group/g', ['m0']);
    planner.markScope('s');
    planner.noteMembers('group/g', ['m1']);
    planner.replan();
    expect(work.plans).toBe(1);
    expect([...planner.planned().keys()]).toEqual(['s', 'g m2']);
  });

  test('changes nothing while a member cannot be planned, and all of it afterwards', () => {
    const { planner, groups, join, setMember } = createFixture();
    groups.set('g', members(1));
    join('s', ['g']);
    expect(setMember('g', 'bad', 'broken')).toEqual([]);
    expect(setMember('g', 'good', 'fine')).toEqual([]);
    expect(() => planner.isInForce(['s'])).toThrow('bad is broken');
    expect(setMember('g', 'bad', 'fine')).toEqual(['add g good', 'add g bad'].reverse());
  });

  test('may be joined in another order, and twice', () => {
    const { planner, groups, join } = createFixture();
    groups.set('g', members(2));
    groups.set('h', members(1));
    join('s', ['g', 'h']);
    expect(join('s', ['h', 'g', 'g'])).toEqual([]);
    expect(join('s', ['g'])).toEqual(['remove h m0']);
    expect(planner.resourcesOf('s')).toHaveLength(3);
  });

  test('may change while its scope is adopted and found to be gone', () => {
    const { planner, groups, joins, join } = createFixture();
    groups.set('g', members(2));
    join('s', ['g']);
    groups.get('g')!.delete('m0');
    planner.noteMembers('group/g', ['m0']);
    joins.delete('s');
    planner.adopt(['s']);
    expect(planner.replan()).toEqual(['s']);
    expect(planner.planned().size).toBe(0);
  });
});
