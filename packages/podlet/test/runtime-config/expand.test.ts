import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expandVariables } from '../../src/runtime-config/environment.js';

const values = new Map([
  ['A', 'a'],
  ['EMPTY', ''],
  ['REF', '$(A)'],
  ['DOLLAR', '$$'],
]);
const expand = (text: string) => expandVariables(text, (name) => values.get(name));

test.each([
  ['plain', 'plain'],
  ['$(A)', 'a'],
  ['x$(A)y$(A)z', 'xayaz'],
  ['[$(EMPTY)]', '[]'],
  ['$(UNKNOWN)', '$(UNKNOWN)'],
  ['$()', '$()'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$a'],
  ['$$$$(A)', '$$(A)'],
  ['$A', '$A'],
  ['${A}', '${A}'],
  ['$(A', '$(A'],
  ['cost: 5$', 'cost: 5$'],
  ['$(A$(A)', '$(A$(A)'],
  ['$(REF)', '$(A)'],
  ['$(DOLLAR)', '$$'],
])('%s becomes %s', (text, expanded) => expect(expand(text)).toBe(expanded));

test('without a dollar nothing changes, and doubled dollars are halved', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const plain = text.replaceAll('$', '');
      expect(expand(plain)).toBe(plain);
      expect(expand(text.replaceAll('$', '$$$$'))).toBe(text);
    }),
  );
});
