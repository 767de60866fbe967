/** Random operations on the test schema: of few rows and values, so that they meet. Some are against its rules. */
import fc from 'fast-check';
import type { AnyDatabase, Condition, Mutation, Operation } from '@podwire/ovsdb';

type Values = AnyDatabase[string]['values'];

const uuidsOf = (digit: string): readonly string[] =>
  ['1', '2', '3', '4'].map((last) => `${digit.repeat(8)}-0000-4000-8000-00000000000${last}`);
const parents = uuidsOf('a');
const children = uuidsOf('c');

const parent = fc.constantFrom(...parents);
const child = fc.constantFrom(...children);
const name = fc.constantFrom('a', 'b', 'c', 'd');
const integer = fc.integer({ min: -3, max: 12 });
const real = fc.constantFrom(-1.5, 0, 0.25, 2);
const text = fc.constantFrom('', 'x', 'ä"', 'a text too long for a label');
const listOf = <T>(member: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> =>
  fc.uniqueArray(member, { maxLength: 3 });
const mapOf = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<{ readonly [key: string]: T }> =>
  fc.dictionary(fc.constantFrom('k', 'l', 'm'), value, { maxKeys: 3, noNullPrototype: true });
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });

const columns: { readonly [table: string]: { readonly [column: string]: fc.Arbitrary<Values[string]> } } = {
  Parent: {
    count: integer,
    ratio: real,
    flag: fc.boolean(),
    note: optional(text),
    level: optional(integer),
    mode: optional(fc.constantFrom('slow', 'fast', 'odd')),
    numbers: listOf(integer),
    tags: mapOf(text),
    weights: mapOf(integer),
    children: listOf(child),
    named: mapOf(child),
    favourite: optional(child),
    friends: listOf(parent),
  },
  Child: { label: text, children: listOf(child), parent: optional(parent) },
  Pair: { a: fc.integer({ min: 0, max: 2 }), b: fc.integer({ min: 0, max: 2 }) },
  Holder: { targets: fc.uniqueArray(parent, { minLength: 1, maxLength: 2 }) },
};

const table = fc.constantFrom('Parent', 'Parent', 'Child', 'Pair', 'Holder');

const rowOf = (of: string): fc.Arbitrary<Values> =>
  fc.record(columns[of]!, { requiredKeys: [], noNullPrototype: true });

function columnOf(of: string): fc.Arbitrary<readonly [string, Values[string]]> {
  const each = Object.entries(columns[of]!);
  return fc.constantFrom(...each).chain(([column, value]) => fc.tuple(fc.constant(column), value));
}

const isNumber = (value: unknown): boolean => typeof value === 'number';

function conditionOf(of: string): fc.Arbitrary<Condition<Values>> {
  const uuid = fc.constantFrom(...(of === 'Child' ? children : parents));
  const general = fc.constantFrom('==', '!=', 'includes', 'excludes');
  const numeric = fc.constantFrom('==', '!=', '<', '<=', '>', '>=');
  return fc.oneof(
    fc.tuple(fc.constant('_uuid' as const), fc.constantFrom('==', '!='), uuid),
    columnOf(of).chain(([column, value]) =>
      (isNumber(value) ? numeric : general).map((test): Condition<Values> => [column, test, value]),
    ),
  );
}

function mutationOf(of: string): fc.Arbitrary<Mutation<Values>> {
  const arithmetic = fc.constantFrom('+=', '-=', '*=', '/=', '%=');
  const numbers = of === 'Parent' ? ['count', 'level', 'numbers'] : of === 'Pair' ? ['a', 'b'] : [];
  const collection = columnOf(of).chain(([column, value]) =>
    fc.constantFrom('insert', 'delete').map((mutator): Mutation<Values> => [column, mutator, value]),
  );
  if (numbers.length === 0) return collection;
  const calculation = fc.tuple(fc.constantFrom(...numbers), arithmetic, integer);
  return fc.oneof(calculation, collection);
}

const whereOf = (of: string): fc.Arbitrary<readonly Condition<Values>[]> =>
  fc.array(conditionOf(of), { maxLength: 2 });

function insertInto(of: string): fc.Arbitrary<Operation> {
  const uuids = of === 'Child' ? children : of === 'Parent' ? parents : uuidsOf(of === 'Pair' ? 'd' : 'e');
  const named = of === 'Parent' ? name.map((each) => ({ name: each })) : fc.constant({});
  return fc
    .tuple(rowOf(of), named, fc.constantFrom(...uuids))
    .map(([row, own, uuid]) => ({ op: 'insert', table: of, row: { ...row, ...own }, uuid }));
}

function operationOn(of: string): fc.Arbitrary<Operation> {
  const where = whereOf(of);
  const names = fc.uniqueArray(fc.constantFrom(...Object.keys(columns[of]!)), { minLength: 1, maxLength: 2 });
  return fc.oneof(
    { weight: 5, arbitrary: insertInto(of) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(where, rowOf(of))
        .map(([own, row]) => ({ op: 'update', table: of, where: own, row })),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(where, fc.array(mutationOf(of), { maxLength: 2 }))
        .map(([own, mutations]) => ({ op: 'mutate', table: of, where: own, mutations })),
    },
    { weight: 2, arbitrary: where.map((own) => ({ op: 'delete', table: of, where: own })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(where, names)
        .map(([own, each]) => ({ op: 'select', table: of, where: own, columns: each })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(where, names, fc.constantFrom('==', '!='), fc.array(rowOf(of), { maxLength: 2 }))
        .map(([own, each, until, rows]) => ({
          op: 'wait',
          table: of,
          where: own,
          columns: each,
          until,
          rows,
        })),
    },
  ) as fc.Arbitrary<Operation>;
}

/** Transactions, one after the other. */
export const transactions: fc.Arbitrary<readonly (readonly Operation[])[]> = fc.array(
  fc.array(table.chain(operationOn), { minLength: 1, maxLength: 4 }),
  { minLength: 1, maxLength: 12 },
);

/** Makes all tables empty. */
export const clear: readonly Operation[] = ['Holder', 'Parent', 'Pair', 'Single'].map((of) => ({
  op: 'delete',
  table: of,
  where: [],
}));
