/** JSON as Go's encoder writes it, and what its decoder reads as a text. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** Go escapes what is special in HTML, and two ends of line of JavaScript. */
const escaped = new RegExp('[<>&\u2028\u2029]', 'g');

/** @param indent blanks for each level; in one line without it */
export function toGoJson(value: unknown, indent?: number): string {
  const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, undefined, indent).replace(escaped, escape);
}

/** @throws Error that names it */
export function toObject(value: unknown, name: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new Error(`${name} is no object`);
}

/** Go's decoder reads null as absent, and what is absent as an empty text. @throws Error that names the field */
export function toText(from: JsonObject, key: string): string {
  const value = from[key] ?? '';
  if (typeof value !== 'string') throw new Error(`${key} is no string`);
  return value;
}
