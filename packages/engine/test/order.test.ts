import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createKindRegistry, type Kind, type Resource } from '../src/index.js';
import { planBatches } from '../src/order.js';

/** A resource of any backend that needs others by their names. */
interface Thing {
  readonly kind: 'thing';
  readonly name: string;
  readonly batch: string;
  readonly needs: readonly string[];
}

const kindOf = (batch: string): Kind<Thing> => ({
  ...{ kind: 'thing', backend: batch.toUpperCase(), batch, inPlace: true },
  place: () => 'host',
  key: ({ name }) => name,
  describe: ({ name }) => name,
  after: ({ needs }) => needs,
  check: () => undefined,
  compare: () => undefined,
});

const registry = createKindRegistry([
  {
    ...kindOf('a'),
    variant: (thing: Thing) => (thing.batch === 'a' ? undefined : kindOf(thing.batch)),
  },
]);
const thing = (name: string, batch: string, ...needs: string[]): Resource =>
  ({ kind: 'thing', name, batch, needs }) as unknown as Resource;
const cut = (things: readonly Resource[]): string[] =>
  planBatches(registry, things).map((batch) =>
    [batch.backend, ...batch.resources.map((one) => registry.describe(one))].join(' '),
  );

test('crosses backends: a link, then its port, then the flows, then the filter', () => {
  expect(
    cut([
      thing('flow', 'c', 'port'),
      thing('port', 'b', 'link'),
      thing('rule', 'd', 'flow'),
      thing('link', 'a'),
    ]),
  ).toEqual(['A link', 'B port', 'C flow', 'D rule']);
});

test('waits with a sort until all of it can go, if something else can go meanwhile', () => {
  expect(cut([thing('a1', 'a'), thing('a2', 'a', 'b1'), thing('b1', 'b')])).toEqual(['B b1', 'A a1 a2']);
});

test('cuts a sort in two where another one needs a part of it and has the rest after it', () => {
  expect(cut([thing('a1', 'a'), thing('a2', 'a', 'b1'), thing('b1', 'b', 'a1')])).toEqual([
    'A a1',
    'B b1',
    'A a2',
  ]);
});

test('takes a need that nothing in the list meets for met', () => {
  expect(cut([thing('a1', 'a', 'absent')])).toEqual(['A a1']);
});

test('names the circle in which resources need each other', () => {
  const circle = [thing('x', 'a', 'y'), thing('y', 'b', 'z'), thing('z', 'a', 'y')];
  const error = catchError(() => cut(circle));
  expect(error).toMatchObject({ code: 'RESOURCE_CIRCLE', details: { circle: ['y', 'z'] } });
  expect(error.message).toBe('y needs z, which needs y: none of them can come first');
});

function catchError(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

/** Things that need earlier ones, in any order. */
const lists = fc
  .array(fc.record({ batch: fc.constantFrom('a', 'b', 'c'), needs: fc.array(fc.nat(20), { maxLength: 3 }) }))
  .map((all) =>
    all.map(({ batch, needs }, index) =>
      thing(`${index}`, batch, ...needs.filter((need) => need < index).map(String)),
    ),
  )
  .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));

test('loses nothing, and puts everything behind its needs', () => {
  fc.assert(
    fc.property(lists, fc.boolean(), (given, single) => {
      const ordered = planBatches(registry, given, single).flatMap((batch) => batch.resources);
      expect(new Set(ordered)).toEqual(new Set(given));
      expect(ordered).toHaveLength(given.length);
      const names = ordered.map((one) => registry.keyOf(one));
      for (const [index, one] of ordered.entries())
        for (const need of registry.needsOf(one)) expect(names.indexOf(need)).toBeLessThan(index);
    }),
  );
});

test('keeps the order of a list that is in order already, within each sort', () => {
  const inOrder = lists.map((all) =>
    all.toSorted((a, b) => Number(registry.keyOf(a)) - Number(registry.keyOf(b))),
  );
  fc.assert(
    fc.property(inOrder, (given) => {
      const ordered = planBatches(registry, given).flatMap((batch) => batch.resources);
      for (const batch of ['a', 'b', 'c']) {
        const ofSort = (all: readonly Resource[]): Resource[] =>
          all.filter((one) => registry.of(one).batch === batch);
        expect(ofSort(ordered)).toEqual(ofSort(given));
      }
    }),
  );
});
