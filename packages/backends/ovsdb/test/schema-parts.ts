/** Types of columns, as a file `*.ovsschema` has them. */
export const optional = (type: object): object => ({ type: { key: type, min: 0, max: 1 } });
export const setOf = (type: object): object => ({ type: { key: type, min: 0, max: 'unlimited' } });
export const rowsOf = (refTable: string, refType = 'strong'): object =>
  setOf({ type: 'uuid', refTable, refType });
export const oneOf = (...values: readonly string[]): object =>
  optional({ type: 'string', enum: ['set', values] });
export const text = { type: 'string' };
export const integer = { type: 'integer' };
export const flag = { type: 'boolean' };
export const pairs = { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } };
