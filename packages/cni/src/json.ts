import { CniError, errorCodes } from './error.js';

/** Caps for JSON that comes from outside. The specification has none; these keep a bad caller from costing memory. */
export interface JsonLimits {
  /** Bytes of the document. */
  readonly maxBytes: number;
  /** Levels of arrays and objects; a lone number has depth 0. */
  readonly maxDepth: number;
  /**
   * How an object that has one key twice is treated. `refuse`: an error, for messages between programs, where two
   * readers could otherwise see two meanings. `last`: the last one counts, as in Go and JavaScript, for people's files.
   */
  readonly duplicateKeys: 'refuse' | 'last';
}

/** 1 MiB, 32 levels, duplicates refused. */
export const requestLimits: JsonLimits = { maxBytes: 1 << 20, maxDepth: 32, duplicateKeys: 'refuse' };

/** 1 MiB, 32 levels, the last duplicate counts. */
export const fileLimits: JsonLimits = { ...requestLimits, duplicateKeys: 'last' };

/**
 * Decodes UTF-8 JSON within limits. `what` begins the message: `network configuration: …`.
 * @throws CniError code 6 when it is too large, too deep, no UTF-8 or no JSON, or repeats a key where that is refused.
 */
export function parseJson(
  bytes: Uint8Array | string,
  what: string,
  limits: JsonLimits = requestLimits,
): unknown {
  const size = typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.byteLength;
  if (size > limits.maxBytes)
    throw undecodable(what, `is ${size} bytes, at most ${limits.maxBytes} are read`);
  const text = typeof bytes === 'string' ? bytes : decodeUtf8(bytes, what);
  scan(text, what, limits);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw undecodable(
      what,
      text.trim() === '' ? 'is empty' : `is no JSON: ${(error as Error).message}`,
      error,
    );
  }
}

function undecodable(what: string, problem: string, cause?: unknown): CniError {
  return new CniError(errorCodes.decodingFailure, `${what} ${problem}`, { cause });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Uint8Array, what: string): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw undecodable(what, 'is no UTF-8 text', error);
  }
}

/**
 * One pass over the text before anything is built: a megabyte of `[` costs a scan and no memory, and a repeated key is
 * seen, which JSON.parse hides. Text that is no JSON passes here and fails there.
 */
function scan(text: string, what: string, { maxDepth, duplicateKeys }: JsonLimits): void {
  const open: (Set<string> | undefined)[] = [];
  let word = '';
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      word = text.slice(at, end + 1);
      at = end;
    } else if (character === '{') open.push(duplicateKeys === 'refuse' ? new Set() : undefined);
    else if (character === '[') open.push(undefined);
    else if (character === '}' || character === ']') open.pop();
    else if (character === ':') {
      addKey(open.at(-1), word, what);
      word = ''; // `"a long key"::::` is no JSON, and must not cost a look at the key for each colon
    }
    if (open.length > maxDepth) throw undecodable(what, `is nested deeper than ${maxDepth} levels`);
  }
}

/** Index of the closing quote of the string that opens at `start`; the end of the text when it never closes. */
function endOfString(text: string, start: number): number {
  let end = start;
  do {
    end = text.indexOf('"', end + 1);
  } while (end > 0 && isEscaped(text, end));
  return end < 0 ? text.length : end;
}

/** True when an odd number of backslashes stands before the position. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first--;
  return (at - first) % 2 === 1;
}

/** Characters of a key that a message shows. */
const maxShownKey = 200;

function addKey(keys: Set<string> | undefined, word: string, what: string): void {
  if (keys === undefined || word === '') return;
  const key = unescapeKey(word);
  if (keys.has(key))
    throw undecodable(what, `has the key ${JSON.stringify(key.slice(0, maxShownKey))} twice in one object`);
  keys.add(key);
}

/** A key written with escapes is the same key as without. */
function unescapeKey(word: string): string {
  if (!word.includes('\\')) return word.slice(1, -1);
  try {
    return JSON.parse(word) as string;
  } catch {
    return word;
  }
}
