/** However a state was reached, it is rendered the same, and the deltas add up to it. */
import type { CompiledDelta, CompiledEndpoint, CompiledPolicy, CompiledSet } from '@podwire/policy';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Resource } from '@podwire/engine';
import { keyOf } from '../src/wanted.js';
import { link, makeRenderer, nothing, pod, policy, rule, tiers } from './fixtures.js';

interface State {
  readonly policies: readonly CompiledPolicy[];
  readonly endpoints: readonly CompiledEndpoint[];
  readonly sets: readonly { readonly set: CompiledSet; readonly members: readonly string[] }[];
  /** By link, its pod. */
  readonly links: Readonly<Record<string, string>>;
}

const names = ['p0', 'p1', 'p2'];
const setIds = ['s0', 's1'];

const rules = fc.array(
  fc
    .record({
      action: fc.constantFrom('allow', 'deny', 'pass', 'log' as const),
      set: fc.option(fc.constantFrom(...setIds), { nil: undefined }),
      ports: fc.subarray([1, 2, 3, 4, 5]),
    })
    .map(({ action, set, ports }) =>
      rule(action, {
        ...(set === undefined ? {} : { family: 4, source: [{ set }] }),
        ...(ports.length === 0
          ? {}
          : { protocol: 'tcp', destinationPorts: ports.map((first) => ({ first, last: first })) }),
      }),
    ),
  { maxLength: 3 },
);
const policies = fc
  .tuple(
    ...names.map((id) =>
      fc.option(fc.record({ ingress: rules, egress: rules }).map((both) => policy(id, both))),
    ),
  )
  .map((all) => all.filter((one) => one !== null));
const direction = fc
  .record({ chosen: fc.subarray(names), end: fc.constantFrom('deny', 'pass' as const) })
  .map(({ chosen, end }) =>
    chosen.length === 0 ? tiers() : tiers({ tier: 'default', policies: chosen, end }),
  );
const endpoints = fc
  .tuple(
    ...['n/a', 'n/b', 'n/c'].map((key) =>
      fc.option(fc.record({ ingress: direction, egress: direction }).map((both) => pod(key, both))),
    ),
  )
  .map((all) => all.filter((one) => one !== null));
const sets = fc.tuple(
  ...setIds.map((id) =>
    fc.subarray(['10.0.0.1', '10.0.0.2', '10.0.0.3']).map((members) => ({
      set: { id, type: 'addresses', family: 4, comment: id } as const,
      members,
    })),
  ),
);
const links = fc.dictionary(fc.constantFrom('cali1', 'cali2', 'cali3'), fc.constantFrom('n/a', 'n/b', 'n/c'));
const states: fc.Arbitrary<State> = fc.record({ policies, endpoints, sets, links });
const empty: State = { policies: [], endpoints: [], sets: [], links: {} };

function difference(
  before: State,
  after: State,
): [CompiledDelta, Parameters<ReturnType<typeof makeRenderer>['apply']>[1]] {
  const gone = <T>(old: readonly T[], now: readonly T[], key: (one: T) => string): string[] =>
    old.map(key).filter((one) => !now.some((other) => key(other) === one));
  const delta: CompiledDelta = {
    ...nothing,
    sets: after.sets.map(({ set, members }) => {
      const old = before.sets.find((other) => other.set.id === set.id)?.members ?? [];
      const add = members.filter((member) => !old.includes(member));
      return { set, add, remove: old.filter((member) => !members.includes(member)) };
    }),
    setsRemoved: before.sets
      .filter(({ set }) => !after.sets.some((one) => one.set.id === set.id))
      .map(({ set }) => set),
    policies: after.policies,
    policiesRemoved: gone(before.policies, after.policies, ({ id }) => id),
    endpoints: after.endpoints,
    endpointsRemoved: gone(before.endpoints, after.endpoints, ({ key }) => key),
  };
  const names = new Set([...Object.keys(before.links), ...Object.keys(after.links)]);
  return [
    delta,
    [...names].map((name) => {
      const endpoint = after.links[name];
      return endpoint === undefined ? { link: name, value: undefined } : link(name, endpoint);
    }),
  ];
}

const sorted = (resources: readonly Resource[]): [string, Resource][] =>
  resources.map((one): [string, Resource] => [keyOf(one), one]).sort(([a], [b]) => (a < b ? -1 : 1));

describe('a renderer', () => {
  it('makes the same of a state, whatever came before, and says each change', () => {
    fc.assert(
      fc.property(fc.array(states, { minLength: 1, maxLength: 6 }), (history) => {
        const renderer = makeRenderer();
        const kernel = new Map(sorted(renderer.start().add));
        let before = empty;
        for (const state of history) {
          const { add, remove } = renderer.apply(...difference(before, state));
          for (const one of remove) expect(kernel.delete(keyOf(one))).toBe(true);
          for (const one of add) kernel.set(keyOf(one), one);
          before = state;
        }
        const fresh = makeRenderer();
        fresh.apply(...difference(empty, before));
        expect(sorted(renderer.resources)).toEqual(sorted(fresh.resources));
        expect(sorted([...kernel.values()])).toEqual(sorted(fresh.resources));
      }),
      { numRuns: 300 },
    );
  });

  it('leaves the empty table behind', () => {
    fc.assert(
      fc.property(states, (state) => {
        const renderer = makeRenderer();
        renderer.apply(...difference(empty, state));
        renderer.apply(...difference(state, empty));
        expect(sorted(renderer.resources)).toEqual(sorted(renderer.start().add));
      }),
    );
  });
});
