import { expect, test } from 'vitest';
import { ErrorCollector, ifExists, orUndefined, succeeds } from '../src/index.js';

const missing = Object.assign(new Error('no such file'), { code: 'ENOENT' });

test('an expected failure is undefined, any other one is thrown', async () => {
  const isExpected = (error: unknown): boolean => error === missing;
  expect(await orUndefined(Promise.resolve(1), isExpected)).toBe(1);
  expect(await orUndefined(Promise.reject(missing), isExpected)).toBeUndefined();
  await expect(orUndefined(Promise.reject(new Error('other')), isExpected)).rejects.toThrow('other');
});

test('a file that is missing is undefined', async () => {
  expect(await ifExists(Promise.reject(missing))).toBeUndefined();
  await expect(ifExists(Promise.reject(new Error('denied')))).rejects.toThrow('denied');
});

test('tells whether work succeeds', async () => {
  expect(await succeeds(Promise.resolve(false))).toBe(true);
  expect(await succeeds(Promise.reject(missing))).toBe(false);
});

test('collects errors, and throws the only one or all together', async () => {
  const errors = new ErrorCollector();
  await errors.collect(() => Promise.resolve());
  errors.throwIfAny('nothing');
  await errors.collect(() => Promise.reject(missing));
  expect(() => errors.throwIfAny('one')).toThrow(missing);
  await errors.collect(() => Promise.reject(new Error('other')));
  expect(() => errors.throwIfAny('both failed')).toThrow(AggregateError);
});
