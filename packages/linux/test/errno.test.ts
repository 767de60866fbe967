import { errnoName, hasCode, SystemError } from '@podwire/linux';
import { describe, expect, test } from 'vitest';

describe('errnoName', () => {
  test.each([
    [17, 'EEXIST'],
    [-17, 'EEXIST'],
    [11, 'EAGAIN'],
    [95, 'EOPNOTSUPP'],
    [101, 'ENETUNREACH'],
    [105, 'ENOBUFS'],
    [112, 'EHOSTDOWN'],
    [76, 'ENOTUNIQ'],
    [4095, 'E4095'],
  ])('%i is %s', (errno, name) => {
    expect(errnoName(errno)).toBe(name);
  });
});

describe('SystemError', () => {
  test('looks like Node’s own', () => {
    const error = new SystemError('setns', 22, 'no namespace');
    expect({ ...error }).toEqual({ name: 'SystemError', code: 'EINVAL', errno: 22, syscall: 'setns' });
    expect(error.message).toBe('setns: EINVAL (no namespace)');
    expect(new SystemError('bind', -98).message).toBe('bind: EADDRINUSE');
  });

  test('hasCode knows it, and Node’s own', () => {
    expect(hasCode(new SystemError('bind', 98), 'EPERM', 'EADDRINUSE')).toBe(true);
    expect(hasCode(new SystemError('bind', 98), 'EPERM')).toBe(false);
    expect(hasCode(Object.assign(new Error('x'), { code: 'ENOENT' }), 'ENOENT')).toBe(true);
    expect(hasCode({ code: 'ENOENT' }, 'ENOENT')).toBe(false);
    expect(hasCode(new Error('ENOENT'), 'ENOENT')).toBe(false);
  });
});
