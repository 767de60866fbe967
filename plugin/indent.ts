/** A CNI result as the original prints it. As indent.c. */
import { isClosing, isOpening, toJson, tokensOf, wellFormed } from './json.js';

/**
 * An object that readObject() accepted with four blanks for each level, and with this `cniVersion`; that comes last where
 * the object has none. Strings are spelled as toJson() does, numbers and the order stay as they are.
 */
export const indent = (object: string, version: string): string =>
  layOut(withVersion(tokensOf(object), `"${version}"`));

const isString = (token: string): boolean => token.startsWith('"');
const isVersionKey = (token: string | undefined): boolean =>
  token !== undefined && isString(token) && JSON.parse(token) === 'cniVersion';

function withVersion(tokens: readonly string[], version: string): readonly string[] {
  const kept: string[] = [];
  let level = 0;
  let isStated = false;
  let isReplaced = false;
  for (const [index, token] of tokens.entries()) {
    const after = level + Number(isOpening(token)) - Number(isClosing(token));
    if (after === 0 || (level === 1 && token === ',')) isReplaced = false;
    if (!isReplaced) kept.push(token);
    if (level === 1 && token === ':' && isVersionKey(tokens[index - 1])) {
      kept.push(version);
      isStated = isReplaced = true;
    }
    level = after;
  }
  return isStated ? kept : [...kept.slice(0, -1), ',', '"cniVersion"', ':', version, '}'];
}

function layOut(tokens: readonly string[]): string {
  let level = 0;
  const line = (): string => `\n${' '.repeat(4 * level)}`;
  const place = (token: string, index: number): string => {
    level += Number(isOpening(token)) - Number(isClosing(token));
    if (isOpening(token)) return isClosing(tokens[index + 1]) ? token : `${token}${line()}`;
    if (isClosing(token)) return isOpening(tokens[index - 1]) ? token : `${line()}${token}`;
    if (token === ',') return `,${line()}`;
    if (token === ':') return ': ';
    return isString(token) ? toJson(wellFormed(JSON.parse(token) as string)) : token;
  };
  return tokens.map(place).join('');
}
