import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compareVersions,
  isAtLeast,
  isSupportedVersion,
  negotiateVersion,
  parseVersion,
  supportedVersions,
} from '../src/index.js';

test.each([
  ['1.2.3', [1, 2, 3]],
  ['1.2', [1, 2, 0]],
  ['1', [1, 0, 0]],
  ['', [0, 1, 0]],
  ['0.10.0', [0, 10, 0]],
])('parseVersion(%j)', (text, expected) => {
  expect(parseVersion(text)).toEqual(expected);
});

test.each(['1.2.3.4', 'v1.0.0', '1..0', '1.x', '-1', ' 1', '1.0.0-rc1', '1e3', '12345678901'])(
  'parseVersion(%j) is refused with code 7',
  (text) => {
    expect(() => parseVersion(text)).toThrow(expect.objectContaining({ code: 7 }));
  },
);

test('versions are ordered by number, not by text', () => {
  expect(compareVersions('0.10.0', '0.9.0')).toBeGreaterThan(0);
  expect(compareVersions('1.0', '1.0.0')).toBe(0);
  expect(supportedVersions.toSorted(compareVersions)).toEqual(supportedVersions);
  const part = fc.nat({ max: 30 });
  const version = fc.tuple(part, part, part).map((parts) => parts.join('.'));
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)) + 0);
      if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0) {
        expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
      }
    }),
  );
});

test('isAtLeast and isSupportedVersion', () => {
  expect(isAtLeast('1.0.0', '0.4.0')).toBe(true);
  expect(isAtLeast('0.3.1', '0.4.0')).toBe(false);
  expect(isSupportedVersion('1.1.0')).toBe(true);
  expect(isSupportedVersion('1.1')).toBe(false);
});

describe('negotiateVersion', () => {
  test.each([
    [{}, '0.1.0'],
    [{ cniVersion: '' }, '0.1.0'],
    [{ cniVersion: '0.4.0' }, '0.4.0'],
    [{ cniVersions: ['0.3.1', '1.0.0', '0.4.0'] }, '1.0.0'],
    [{ cniVersion: '1.1.0', cniVersions: ['0.4.0', '1.0.0'] }, '1.1.0'],
    [{ cniVersion: '1.0.0', cniVersions: ['1.1.0', '1.2.0', '9.0.0'] }, '1.1.0'],
    [{ cniVersion: '9.0.0', cniVersions: ['0.4.0'] }, '0.4.0'],
  ])('%j', (choice, expected) => {
    expect(negotiateVersion(choice)).toBe(expected);
  });

  test('considers what plugins speak', () => {
    const choice = { cniVersions: ['0.4.0', '1.0.0', '1.1.0'] };
    expect(negotiateVersion(choice, ['0.3.1', '0.4.0', '1.0.0'])).toBe('1.0.0');
  });

  test.each([
    [{ cniVersion: '2.0.0' }, 1],
    [{ cniVersions: ['2.0.0'] }, 1],
    [{ cniVersions: [] }, 1],
    [{ cniVersions: ['1.0.0', 'x'] }, 7],
    [{ cniVersion: '1.0.0.0' }, 7],
  ])('%j is refused with code %i', (choice, code) => {
    expect(() => negotiateVersion(choice)).toThrow(expect.objectContaining({ code }));
  });

  test('an incompatible version names both lists', () => {
    expect(() => negotiateVersion({ cniVersion: '1.1.0' }, ['0.4.0'])).toThrow(
      expect.objectContaining({
        message: 'incompatible CNI versions',
        details: 'config is "1.1.0", plugin supports ["0.4.0"]',
      }),
    );
  });
});
