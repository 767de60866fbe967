import { describe, expect, it } from 'vitest';
import { isDecided, readAnswer } from '../http.js';

const of = (text: string): Buffer => Buffer.from(text, 'latin1');
const head = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n';

describe('isDecided', () => {
  it('waits for a head that may still come, and for the body that it states', () => {
    for (const text of ['', 'HTT', 'HTTP/1.1 200 OK\r\n', head, `${head}{`, 'HTTP/1.1 200 OK\r\n\r\n{}'])
      expect([text, isDecided(of(text))]).toEqual([text, false]);
    for (const text of [`${head}{}`, `${head}{}x`, 'HTTX', '{', `HTTP/1.1 ${'a'.repeat(16 * 1024)}`])
      expect([text, isDecided(of(text))]).toEqual([text, true]);
  });

  it('does not wait for a body that 204 does not have', () => {
    const deleted = of('HTTP/1.1 204 No Content\r\n\r\n');
    expect(isDecided(deleted)).toBe(true);
    expect(readAnswer(deleted, true)).toEqual({ status: '204', text: '' });
    const lying = of('HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n');
    expect(readAnswer(lying, false)).toEqual({ status: '204', text: '' });
  });

  it('does not wait for the end of what is too long or not understood', () => {
    const open = 'HTTP/1.1 200 OK\r\n\r\n';
    expect(isDecided(of(open + 'a'.repeat(1 << 20)))).toBe(false);
    expect(isDecided(of(`${open + 'a'.repeat(1 << 20)}b`))).toBe(true);
    expect(isDecided(of('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'))).toBe(true);
  });
});

describe('readAnswer', () => {
  it('gives the status and as much of the body as is stated', () => {
    expect(readAnswer(of(`${head}{}x`), true)).toEqual({ status: '200', text: '{}' });
    expect(readAnswer(of('HTTP/1.0 404\r\n\r\nno'), false)).toEqual({ status: '404', text: 'no' });
  });

  it('does not take a part of an answer for the whole', () => {
    const aborted = 'failed to read CNI result: aborted';
    expect(readAnswer(of(`${head}{`), false)).toBe(aborted);
    expect(readAnswer(of('HTTP/1.1 200 OK\r\n\r\n{}'), true)).toBe(aborted);
  });
});
