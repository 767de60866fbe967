import { expect, test } from 'vitest';
import { describeYamlError } from '@podwire/platform';

test.each([
  ['Tabs are not allowed as indentation', 'a tab is no indentation in YAML; use spaces'],
  ['Missing closing "quote', 'the quote " that opens before here is not closed'],
  ["Missing closing 'quote", "the quote ' that opens before here is not closed"],
  [
    'Flow sequence in block collection must be sufficiently indented and end with a ]',
    'a ] is missing before here',
  ],
  ['Flow map must end with a }', 'a } is missing before here'],
  ['Sequence item without - indicator', 'stands between the entries of a list: indent it more, or less'],
  ['Plain value cannot start with reserved character @', 'a value that begins with @ must stand in quotes'],
  [
    'Plain value cannot start with directive indicator character %',
    'a value that begins with % must stand in quotes',
  ],
  ['Invalid escape sequence \\q', '\\q means nothing between double quotes; use single quotes'],
  ['Unexpected flow-map-end token in YAML document: "}"', 'does not belong here'],
  ['Unexpected scalar at node end', 'does not belong here'],
  ['Something new\nat line 3', 'is no YAML: Something new'],
])('%s', (message, words) => {
  expect(describeYamlError(message)).toBe(words);
});
