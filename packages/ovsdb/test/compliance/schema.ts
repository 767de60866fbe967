/** A schema that has each kind of column and each rule. */

const setOf = (key: unknown, max: number | 'unlimited' = 'unlimited', min = 0): object => ({
  type: { key, min, max },
});
const mapOf = (key: unknown, value: unknown): object => ({ type: { key, value, min: 0, max: 'unlimited' } });
const plain = (type: string): object => ({ type });
const weak = (refTable: string): object => ({ type: 'uuid', refTable, refType: 'weak' });
const strong = (refTable: string): object => ({ type: 'uuid', refTable });

export const testSchema = {
  name: 'Test',
  version: '1.0.0',
  tables: {
    Parent: {
      isRoot: true,
      indexes: [['name']],
      columns: {
        name: { type: 'string', mutable: false },
        count: plain('integer'),
        ratio: plain('real'),
        flag: plain('boolean'),
        note: setOf('string', 1),
        level: setOf({ type: 'integer', minInteger: 0, maxInteger: 10 }, 1),
        mode: setOf({ type: 'string', enum: ['set', ['slow', 'fast']] }, 1),
        numbers: setOf('integer', 4),
        tags: mapOf('string', 'string'),
        weights: mapOf('string', { type: 'integer', maxInteger: 100 }),
        children: setOf(strong('Child')),
        named: mapOf('string', strong('Child')),
        favourite: setOf(weak('Child'), 1),
        friends: setOf(weak('Parent')),
      },
    },
    Child: {
      columns: {
        label: { type: { key: { type: 'string', maxLength: 8 } } },
        children: setOf(strong('Child')),
        parent: setOf(weak('Parent'), 1),
      },
    },
    Pair: { isRoot: true, indexes: [['a', 'b']], columns: { a: plain('integer'), b: plain('integer') } },
    Single: { isRoot: true, maxRows: 1, columns: { value: plain('integer') } },
    Holder: { isRoot: true, columns: { targets: setOf(weak('Parent'), 'unlimited', 1) } },
  },
};
