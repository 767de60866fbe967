import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  validateContainerId,
  validateInterfaceName,
  validateNetworkName,
  validatePluginType,
} from '../src/index.js';

const withCode = (code: number) => expect.objectContaining({ code }) as Error;
const good = ['a', '0', 'a.b_c-D', '8f7e'.repeat(16), 'a'.repeat(255)];
const bad = ['-a', '.a', '_a', 'a/b', 'a b', 'a\n', 'ä', '../x', 'a;b', 'a'.repeat(256), 'a\0'];

describe('container id', () => {
  test.each(good)('takes %j', (id) => expect(validateContainerId(id)).toBeUndefined());
  test.each(bad)('refuses %j with code 4', (id) =>
    expect(() => validateContainerId(id)).toThrow(withCode(4)),
  );
  test('refuses an empty one with code 3', () => expect(() => validateContainerId('')).toThrow(withCode(3)));
});

describe('network name', () => {
  test.each(good)('takes %j', (name) => expect(validateNetworkName(name)).toBeUndefined());
  test.each(['', ...bad])('refuses %j with code 7', (name) => {
    expect(() => validateNetworkName(name)).toThrow(withCode(7));
  });
});

describe('interface name', () => {
  test.each(['eth0', 'a', 'x'.repeat(15), 'veth-1.2@3', 'ethä', '...'])('takes %j', (name) => {
    expect(validateInterfaceName(name)).toBeUndefined();
  });
  test.each([
    '',
    '.',
    '..',
    'x'.repeat(16),
    'ä'.repeat(8),
    'a/b',
    'a:1',
    'a b',
    'a\tb',
    'a\n',
    'a\u0085',
    'a\u00a0',
    'a\0',
  ])('refuses %j with code 4', (name) => expect(() => validateInterfaceName(name)).toThrow(withCode(4)));
});

describe('plugin type', () => {
  test.each(['bridge', 'host-local', 'x.exe'])('takes %j', (type) =>
    expect(validatePluginType(type)).toBeUndefined(),
  );
  test.each(['', '.', '..', '../sh', '/bin/sh', 'a\\b', 'a\0'])('refuses %j with code 7', (type) => {
    expect(() => validatePluginType(type)).toThrow(withCode(7));
  });
});

test('what is taken can be part of a file name', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      for (const validate of [validateContainerId, validateNetworkName]) {
        try {
          validate(text);
        } catch {
          continue;
        }
        expect(text).toMatch(/^[^/\0]+$/);
        expect(['.', '..']).not.toContain(text);
      }
    }),
  );
});
