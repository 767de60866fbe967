/** Splitting of texts at places that are not in parentheses. */

/** Lists in lists that are deeper than this are refused; those of a switch have three levels. */
const DEEPEST = 16;

export const quote = (text: string): string =>
  JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

function nextDepth(depth: number, character: string, text: string): number {
  const next = depth + (character === '(' ? 1 : character === ')' ? -1 : 0);
  if (next < 0 || next > DEEPEST)
    throw new RangeError(`parentheses that do not match, or too deep: ${quote(text)}`);
  return next;
}

/** The parts between separators outside of parentheses, trimmed; empty ones are left out. @throws RangeError */
export function splitOutside(text: string, separators: string): string[] {
  const parts: string[] = [];
  let [depth, start] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    depth = nextDepth(depth, text[at]!, text);
    if (depth > 0 || !separators.includes(text[at]!)) continue;
    parts.push(text.slice(start, at));
    start = at + 1;
  }
  if (depth !== 0) throw new RangeError(`a parenthesis is not closed: ${quote(text)}`);
  parts.push(text.slice(start));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** `key=value`, `key:value`, `key(value)` or `key` alone, cut at the first of `separators` or at a parenthesis. */
export function splitKey(
  text: string,
  separators: string,
): readonly [key: string, value: string | undefined] {
  for (let at = 0; at < text.length; at++) {
    if (separators.includes(text[at]!)) return [text.slice(0, at), text.slice(at + 1)];
    if (text[at] !== '(') continue;
    if (!text.endsWith(')')) throw new RangeError(`not a list in parentheses: ${quote(text)}`);
    return [text.slice(0, at), text.slice(at + 1, -1)];
  }
  return [text, undefined];
}

/** A number of up to 53 bits, decimal or with `0x`. @throws RangeError */
export function parseCount(text: string | undefined, most = 0xffff_ffff): number {
  const value = text !== undefined && /^(0x[0-9a-f]+|\d+)$/i.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(value) && value <= most) return value;
  throw new RangeError(`not a number of at most ${most}: ${quote(text ?? '')}`);
}
