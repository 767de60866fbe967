import { describe, expect, it } from 'vitest';
import { parseSelector } from '../src/selector.js';

const labels = { zone: 'a', disk: 'ssd', 'kubernetes.io/os': 'linux', empty: '', in: 'side' };

describe('a label selector', () => {
  it.each([
    ['', true],
    ['  ', true],
    ['zone', true],
    ['!zone', false],
    ['! zone', false],
    ['gpu', false],
    ['!gpu', true],
    ['zone=a', true],
    ['zone==a', true],
    ['zone = b', false],
    ['zone!=b', true],
    ['zone != a', false],
    ['gpu!=yes', true],
    ['zone in (a)', true],
    ['zone in (a,b)', true],
    ['zone in ( b , c )', false],
    ['gpu in (a)', false],
    ['zone notin (b,c)', true],
    ['zone notin (a)', false],
    ['gpu notin (a)', true],
    ['zone=a,disk!=hdd,kubernetes.io/os in (linux,windows),!gpu', true],
    ['zone=a,disk=hdd', false],
    ['empty=', true],
    ['zone=', false],
    ['empty in ()', true],
    ['in=side', true],
    ['in in (side)', true],
    ['toString', false],
  ])('%j is %s', (text, expected) => expect(parseSelector(text)(labels)).toBe(expected));

  it.each([
    ['zone=a,', 'the name of a label is expected, at character 8'],
    [',zone', 'the name of a label is expected, at character 1'],
    ['zone a', '"," is expected, at character 6'],
    ['zone in a', '"(" is expected, at character 9'],
    ['zone in (a', '")" is expected, at character 11'],
    ['zone=a=b', '"," is expected, at character 7'],
    ['!zone=a', '"," is expected, at character 6'],
    ['zone > 3', 'this cannot be read, at character 5'],
    ['zone=a/b', 'this is no value of a label, at character 6'],
    ['a/b/c=d', 'the name of a label is expected, at character 1'],
    [`zone=${'x'.repeat(64)}`, 'this is no value of a label, at character 6'],
  ])('%j is refused: %s', (text, message) =>
    expect(() => parseSelector(text)).toThrow(`selector ${JSON.stringify(text)}: ${message}`),
  );
});
