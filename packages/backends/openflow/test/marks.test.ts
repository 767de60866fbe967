import { expect, test } from 'vitest';
import { cookieOf, readMark } from '../src/marks.js';

test.each([0, 7, 0x77656200, 0xffffffff])('the mark %d is read from its cookie', (mark) => {
  expect(readMark(cookieOf(mark))).toBe(mark);
});

test.each([undefined, '0x0', '0xeae5c1a8', '0x706f6477', '0x706f647800000007'])(
  'the cookie %s of others has no mark',
  (cookie) => expect(readMark(cookie)).toBeUndefined(),
);
