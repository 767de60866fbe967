import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatCniArgs, parseCniArgs, selectCniArgs } from '../src/index.js';

const withCode4 = expect.objectContaining({ code: 4 }) as Error;
const clean = fc.stringMatching(/^[^;=\0]+$/);

test('what is formatted is read back', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(clean, fc.oneof(clean, fc.constant('')))), (pairs) => {
      expect(parseCniArgs(formatCniArgs(pairs))).toEqual(pairs);
    }),
  );
});

test('an empty text has no pairs', () => expect(parseCniArgs('')).toEqual([]));

test.each(['A', 'A=B=C', 'A=B;', ';A=B', '=B', 'A=B;;C=D'])('%j is refused', (text) => {
  expect(() => parseCniArgs(text)).toThrow(withCode4);
});

test.each([[['A', 'x;B=y']], [['A=B', 'x']], [['', 'x']], [['A', 'x\0']]] as [string, string][][])(
  '%j cannot be passed on',
  (pair) => {
    expect(() => formatCniArgs([pair])).toThrow(withCode4);
  },
);

describe('selectCniArgs', () => {
  test('gives what is known, the last of equal keys', () => {
    expect(selectCniArgs(parseCniArgs('A=1;A=2;B='), ['A', 'B', 'C'])).toEqual({ A: '2', B: '' });
  });
  test('unknown keys are named', () => {
    expect(() => selectCniArgs(parseCniArgs('A=1;X=1;Y=2'), ['A'])).toThrow('unknown keys X, Y');
  });
  test.each(['1', 'true', 'True', 'TRUE'])('IgnoreUnknown=%s lets them pass', (flag) => {
    expect(selectCniArgs(parseCniArgs(`X=1;IgnoreUnknown=${flag};A=1`), ['A'])).toEqual({ A: '1' });
  });
  test.each(['0', 'false'])('IgnoreUnknown=%s does not', (flag) => {
    expect(() => selectCniArgs(parseCniArgs(`X=1;IgnoreUnknown=${flag}`), ['A'])).toThrow(withCode4);
  });
  test('IgnoreUnknown must be a boolean', () => {
    expect(() => selectCniArgs(parseCniArgs('IgnoreUnknown=yes'), [])).toThrow('IgnoreUnknown must be');
  });
});
