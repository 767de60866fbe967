/** Values for property tests. */
import fc from 'fast-check';
import type { AtomicType, ColumnType } from '@podwire/ovsdb';

/** Texts that ovsdb-server takes: no null byte. */
const text = fc.string({ unit: 'binary', maxLength: 8 }).map((each) => each.replaceAll('\0', ''));

export const atomOf: { readonly [type in AtomicType]: fc.Arbitrary<string | number | boolean> } = {
  integer: fc.maxSafeInteger(),
  // JSON has no negative zero.
  real: fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each + 0),
  boolean: fc.boolean(),
  string: text,
  uuid: fc.uuid(),
};

const atomicType = fc.constantFrom<AtomicType>('integer', 'real', 'boolean', 'string', 'uuid');

export const columnType: fc.Arbitrary<ColumnType> = fc.oneof(
  atomicType.map((type): ColumnType => ({ key: { type }, min: 1, max: 1 })),
  atomicType.map((type): ColumnType => ({ key: { type }, min: 0, max: 1 })),
  atomicType.map((type): ColumnType => ({ key: { type }, min: 0, max: Infinity })),
  fc.tuple(atomicType, atomicType).map(([key, value]): ColumnType => ({
    key: { type: key },
    value: { type: value },
    min: 0,
    max: Infinity,
  })),
);
