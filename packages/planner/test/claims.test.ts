import { Planner } from '@podwire/planner';
import { describe, expect, test } from 'vitest';

/** A chain that counts how often a line of it is looked at. */
function createChain(work: { looks: number }, name = 'shared', count = 20): Chain {
  const lines = Array.from({ length: count }, (_, index) => ({
    get text() {
      work.looks += 1;
      return `rule ${index}`;
    },
  }));
  return { key: name, lines };
}

interface Chain {
  readonly key: string;
  readonly lines: readonly { readonly text: string }[];
}

const scopesOf = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `endpoint/${index}`);

function createPlanner(plan: (scope: string) => readonly Chain[] | undefined) {
  const work = { keys: 0 };
  const planner = new Planner<Chain>({
    plan,
    sources: {},
    keyOf(chain) {
      work.keys += 1;
      return chain.key;
    },
  });
  return { planner, work };
}

describe('what scopes share', () => {
  test.each([250, 2_000])('is looked at once for each of %i scopes', (count) => {
    const looks = { looks: 0 };
    const { planner } = createPlanner((scope) => [createChain(looks), { key: scope, lines: [] }]);
    for (const scope of scopesOf(count)) planner.markScope(scope);
    planner.replan();
    // A comparison reads 20 lines of either side, in either direction.
    expect(looks.looks).toBeLessThanOrEqual((count - 1) * 20 * 4);
    looks.looks = 0;
    planner.markScope('endpoint/new');
    planner.replan();
    expect(looks.looks).toBeLessThanOrEqual(80);
    expect(planner.difference()).toHaveLength(count + 2);
    expect(planner.conflictCount).toBe(0);
  });

  test('costs nothing to compare where plans give the same object', () => {
    const looks = { looks: 0 };
    const chain = createChain(looks);
    const gone = new Set<string>();
    const { planner } = createPlanner((scope) => (gone.has(scope) ? undefined : [chain]));
    for (const scope of scopesOf(2_000)) planner.markScope(scope);
    planner.replan();
    for (const scope of scopesOf(1_999)) {
      gone.add(scope);
      planner.markScope(scope);
      planner.replan();
    }
    expect(looks.looks).toBe(0);
    expect(planner.planned()).toEqual(new Map([['shared', chain]]));
  });

  test('is ranked again only while scopes differ', () => {
    const wanted = new Map(scopesOf(9).map((scope) => [scope, 'one']));
    const { planner } = createPlanner((scope) => [{ key: 'k', lines: [{ text: wanted.get(scope)! }] }]);
    for (const scope of [...wanted.keys()].reverse()) planner.markScope(scope);
    planner.replan();
    const change = (scope: string, text: string) => {
      wanted.set(scope, text);
      planner.markScope(scope);
      planner.replan();
      return planner.conflicts().map(({ winner, losers }) => [winner, losers.length])[0];
    };
    expect(change('endpoint/3', 'two')).toEqual(['endpoint/0', 1]);
    expect(change('endpoint/0', 'two')).toEqual(['endpoint/0', 7]);
    expect(change('endpoint/0', 'one')).toEqual(['endpoint/0', 1]);
    expect(change('endpoint/3', 'one')).toBeUndefined();
  });
});

describe('a scope that joins many sets', () => {
  test('costs the elements that it adds', () => {
    const elements = (count: number, member: string) =>
      Array.from({ length: count }, (_, set) => ({ key: `set ${set} ${member}`, lines: [] }));
    const { planner, work } = createPlanner((scope) => elements(100, scope));
    for (const scope of scopesOf(100)) planner.markScope(scope);
    planner.replan();
    planner.succeed(planner.difference());
    work.keys = 0;
    planner.markScope('endpoint/new');
    planner.replan();
    expect(planner.difference()).toHaveLength(100);
    expect(work.keys).toBe(100);
  });
});
