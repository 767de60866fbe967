/** Faults of a YAML text, without the words of a parser. */

/** By the code of the yaml package, or its message where a code means several things. */
const rules: readonly (readonly [RegExp, string])[] = [
  [/^Tabs are not allowed/, 'a tab is no indentation in YAML; use spaces'],
  [/^Missing closing (.)quote/, 'the quote $1 that opens before here is not closed'],
  [/^Flow (map|sequence)\b.*must.* end with a (.)/, 'a $2 is missing before here'],
  [/^Missing , .*between/, 'a comma is missing before here'],
  [/^Sequence item without -/, 'stands between the entries of a list: indent it more, or less'],
  [/^All (mapping|sequence) items must/, 'is not indented like the entries before it'],
  [
    /^Implicit map keys need|^Implicit keys need/,
    'is no "key: value": a key stands on one line, a colon behind it',
  ],
  [/^Nested mappings/, 'a second colon in one line: indent the next line less, or put the value into quotes'],
  [/^A block sequence may not/, 'a list begins on the line after its key'],
  [/^Plain value cannot start with .*(.)$/, 'a value that begins with $1 must stand in quotes'],
  [/^Map keys must be unique/, 'this key stands in its map already'],
  [/^Invalid escape sequence (.*)/, '$1 means nothing between double quotes; use single quotes'],
  [/^Block scalar header includes/, 'nothing may stand behind the | or > of a text of several lines'],
  [/^Unresolved alias/, 'the alias has no anchor before it'],
  [/^Excessive alias/, 'its aliases make it too large'],
  [/^(Unexpected|Expected)\b.*?(?:: ?"?([^"]*)"?)?$/, 'does not belong here'],
];

/** @param message of an error of the yaml package */
export function describeYamlError(message: string): string {
  const [line = ''] = message.split('\n');
  const rule = rules.find(([says]) => says.test(line));
  return rule === undefined ? `is no YAML: ${line}` : line.replace(...toReplacement(rule));
}

/** The words instead of the whole line. */
function toReplacement([says, words]: readonly [RegExp, string]): [RegExp, string] {
  return [new RegExp(`${says.source}.*`, 's'), words];
}
