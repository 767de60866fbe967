import { expect, test } from 'vitest';
import { editDistance, suggestWord } from '../src/index.js';

test('the distance counts replaced, added, dropped and swapped letters', () => {
  expect(editDistance('port', 'port')).toBe(0);
  expect(editDistance('port', 'port s')).toBe(2);
  expect(editDistance('prot', 'port')).toBe(1);
  expect(editDistance('', 'abc')).toBe(3);
  expect(editDistance('kitten', 'sitting')).toBe(3);
});

test('the nearest known word is suggested, if at most a third of the letters differ', () => {
  expect(suggestWord('HostProt', ['hostPort', 'hostIP', ''])).toBe('hostPort');
  expect(suggestWord('x', ['', 'y'])).toBe('y');
  expect(suggestWord('something', ['else'])).toBeUndefined();
});
