/** How numbers are written for people. */

/** Numbers can be pasted: `65536`. What has more than twelve digits becomes a power of ten: `≈1.2e24`; -o json has it exactly. */
export function formatCount(count: string | number | bigint): string {
  const digits = String(count);
  if (digits.length <= 12) return digits;
  return `≈${Number(digits).toExponential(1).replace('e+', 'e')}`;
}

/** `1 block`, `2 blocks`, `0 addresses`. */
export function formatPlural(count: string | number, one: string, many = pluralOf(one)): string {
  return `${formatCount(count)} ${String(count) === '1' ? one : many}`;
}

/** Of the last word. */
function pluralOf(word: string): string {
  if (/(?:s|x|ch|sh)$/.test(word)) return `${word}es`;
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`;
}
