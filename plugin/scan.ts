/**
 * Finds the two strings of a network configuration that the plugin needs, without parsing the document: the same scan as
 * in podwire-cni.c, so that both programs agree on malformed documents too, which only the agent may refuse.
 */

/** The strings as they stand in the document: still escaped, without the quotes. `undefined` where there is none. */
export interface ConfigStrings {
  socket: Buffer | undefined;
  version: Buffer | undefined;
}

const code = (character: string): number => character.charCodeAt(0);
const QUOTE = code('"');
const BACKSLASH = code('\\');
const COLON = code(':');
const SPACE = new Set([...' \t\n\r'].map(code));
const OPENING = new Set([...'{['].map(code));
const CLOSING = new Set([...'}]'].map(code));
const ESCAPES = new Set([...'"\\/bfnrtu'].map(code));

function skipSpace(document: Buffer, at: number): number {
  while (SPACE.has(document[at] ?? -1)) at++;
  return at;
}

const isHex4 = (document: Buffer, at: number): boolean =>
  /^[0-9a-fA-F]{4}$/.test(document.toString('latin1', at, at + 4));

/** Index of the closing quote of the string whose text begins at `at`; -1 if it is no JSON string (RFC 8259 §7). */
function endOfString(document: Buffer, at: number): number {
  for (; at < document.length; at++) {
    const byte = document[at] ?? 0;
    if (byte === QUOTE) return at;
    if (byte < 0x20) return -1;
    if (byte !== BACKSLASH) continue;
    const escape = document[++at] ?? -1;
    if (!ESCAPES.has(escape)) return -1;
    if (escape === code('u') && !isHex4(document, at + 1)) return -1;
  }
  return -1;
}

/** The text of a string of `ConfigStrings`. */
export const decodeString = (text: Buffer): string => JSON.parse(`"${text.toString()}"`) as string;

function stringAt(document: Buffer, at: number): Buffer | undefined {
  const quote = skipSpace(document, at);
  const end = document[quote] === QUOTE ? endOfString(document, quote + 1) : -1;
  return end < 0 ? undefined : document.subarray(quote + 1, end);
}

/** Keeps the value at `value` if the key is one that is looked for. The last of several equal keys counts. */
function takeMember(key: Buffer, document: Buffer, value: number, found: ConfigStrings): void {
  const name = decodeString(key);
  if (name === 'socket') found.socket = stringAt(document, value);
  if (name === 'cniVersion') found.version = stringAt(document, value);
}

/** Looks among the keys of the outermost object. Never throws; a scan that cannot go on just ends. */
export function scanConfig(document: Buffer): ConfigStrings {
  const found: ConfigStrings = { socket: undefined, version: undefined };
  let depth = 0;
  let at = skipSpace(document, 0);
  if (document[at] !== code('{')) return found;
  for (; at < document.length; at++) {
    const byte = document[at] ?? 0;
    if (OPENING.has(byte)) depth++;
    if (CLOSING.has(byte) && --depth === 0) break;
    if (byte !== QUOTE) continue;
    const end = endOfString(document, at + 1);
    if (end < 0) break;
    const key = document.subarray(at + 1, end);
    at = end;
    const after = skipSpace(document, end + 1);
    if (depth === 1 && document[after] === COLON) takeMember(key, document, after + 1, found);
  }
  return found;
}
