import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CniError, errorCodes } from '../src/index.js';

test('the JSON form has what section 5 asks for, and leaves out what is not there', () => {
  const error = new CniError(errorCodes.invalidNetworkConfig, 'no', { details: 'why', cniVersion: '1.1.0' });
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    cniVersion: '1.1.0',
    code: 7,
    msg: 'no',
    details: 'why',
  });
  expect(JSON.parse(JSON.stringify(new CniError(4, 'bad')))).toEqual({ code: 4, msg: 'bad' });
});

test('goes to JSON and back', () => {
  const text = fc.string();
  fc.assert(
    fc.property(fc.nat(), text, fc.option(text, { nil: undefined }), (code, msg, details) => {
      const error = new CniError(code, msg, { details, cniVersion: '1.0.0' });
      const back = CniError.fromJSON(JSON.parse(JSON.stringify(error)));
      expect(back).toMatchObject({ code, msg, message: msg, cniVersion: '1.0.0' });
      expect(back?.details ?? '').toBe(details ?? '');
    }),
  );
});

describe('fromJSON', () => {
  test.each([
    null,
    3,
    'x',
    [],
    {},
    { code: 3 },
    { code: '3', msg: 'x' },
    { code: -1, msg: 'x' },
    { code: 1.5, msg: 'x' },
  ])('does not take %j for an error object', (value) => {
    expect(CniError.fromJSON(value)).toBeUndefined();
  });
  test('an object without a code has code 0', () => {
    expect(CniError.fromJSON({ msg: 'x' })).toMatchObject({ code: 0 });
  });
});

test('from keeps a CniError and wraps everything else as code 999', () => {
  const error = new CniError(11, 'later');
  const cause = new TypeError('oops');
  expect(CniError.from(error)).toBe(error);
  expect(CniError.from(cause)).toMatchObject({ code: 999, message: 'oops', cause });
  expect(CniError.from('text')).toMatchObject({ code: 999, message: 'text' });
});
