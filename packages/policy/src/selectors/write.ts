import type { Selector } from './contract.js';

/** In Calico's grammar, as it is: see `formatSelector` for one text per selection. */
export function writeSelector(selector: Selector): string {
  switch (selector.is) {
    case 'all':
      return 'all()';
    case 'none':
      return '!all()';
    case 'has':
      return `has(${selector.key})`;
    case 'in':
      return writeIn(selector.key, selector.values, '==', 'in');
    case 'not':
      return writeNot(selector.of);
    case 'and':
      return writeParts(selector.of, ' && ', 'all()');
    case 'or':
      return writeParts(selector.of, ' || ', '!all()');
    default:
      return `${selector.key} ${words[selector.is]} ${quote(selector.value)}`;
  }
}

const words = { startsWith: 'starts with', endsWith: 'ends with', contains: 'contains' } as const;

function writeIn(key: string, values: readonly string[], one: string, many: string): string {
  return values.length === 1
    ? `${key} ${one} ${quote(values[0]!)}`
    : `${key} ${many} {${values.map(quote).join(', ')}}`;
}

function writeNot(of: Selector): string {
  if (of.is === 'in') return writeIn(of.key, of.values, '!=', 'not in');
  if (of.is === 'has' || of.is === 'all') return `!${writeSelector(of)}`;
  return `!(${writeSelector(of)})`;
}

function writeParts(of: readonly Selector[], sign: string, empty: string): string {
  if (of.length === 0) return empty;
  const isJoined = ({ is }: Selector): boolean => is === 'and' || is === 'or';
  return of.map((part) => (isJoined(part) ? `(${writeSelector(part)})` : writeSelector(part))).join(sign);
}

/** The grammar has no escapes; a value with both quotes comes from no text and is written so that it is still unlike others. */
function quote(value: string): string {
  if (!value.includes("'")) return `'${value}'`;
  return value.includes('"') ? JSON.stringify(value) : `"${value}"`;
}
