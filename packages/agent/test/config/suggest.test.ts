import { expect, test } from 'vitest';
import { suggestWord } from '../../src/config/suggest.js';

const known = ['nodeName', 'socket', 'stateDir', 'networks', 'log'];

test.each([
  ['nodename', 'nodeName'],
  ['sockt', 'socket'],
  ['scoket', 'socket'],
  ['network', 'networks'],
  ['statedir', 'stateDir'],
  ['lgo', 'log'],
  ['banana', undefined],
  ['x', undefined],
])('%s → %s', (word, expected) => {
  expect(suggestWord(word, known)).toBe(expected);
});
