/** JSON as openshift-sdn and kube-ovn read and write it in both forms. As json.c and output.c. */

export type Json = Readonly<Record<string, unknown>>;

const LEVELS = 64;
export const NO_OBJECT = `a JSON object of at most ${LEVELS} levels is needed`;

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/gs;

/** The tokens of a well-formed document. */
export const tokensOf = (text: string): readonly string[] => text.match(TOKEN) ?? [];

export const isOpening = (token: string | undefined): boolean => token === '{' || token === '[';
export const isClosing = (token: string | undefined): boolean => token === '}' || token === ']';

function levelsOf(text: string): number {
  let [level, deepest] = [0, 0];
  for (const token of tokensOf(text)) {
    if (isOpening(token)) deepest = Math.max(deepest, ++level);
    if (isClosing(token)) level--;
  }
  return deepest;
}

/** `undefined` for everything else, NO_OBJECT says what. */
export function readObject(text: string): Json | undefined {
  const value = parse(text);
  return isObject(value) && levelsOf(text) <= LEVELS ? value : undefined;
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** With U+FFFD for halves of surrogate pairs, which UTF-8 does not have. */
export const wellFormed = (text: string): string => Buffer.from(text).toString();

/** Go escapes what is special in HTML, and two ends of line of JavaScript. */
const ESCAPED = new RegExp('[<>&\u2028\u2029]', 'g');

export function toJson(value: unknown, indent?: number): string {
  const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, undefined, indent).replace(ESCAPED, escape);
}
