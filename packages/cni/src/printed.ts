/** Reads what a plugin prints. Pure. */
import { CniError, errorCodes } from './error.js';
import { parseResult } from './result/parse.js';
import type { AnyResult } from './result/types.js';
import type { CniVersion } from './version.js';

/**
 * Reads what a CNI plugin, or a server for one, prints at success.
 * @param version of the configuration; a result may leave it out
 * @throws CniError code 6
 */
export function readPrintedResult(text: string, version: CniVersion): AnyResult | undefined {
  return text === '' ? undefined : parseResult(parse(text), version);
}

/** Reads what it prints at failure. @throws CniError code 6 when that is no error object */
export function readPrintedError(text: string): CniError {
  return CniError.fromJSON(parse(text)) ?? unreadable(text);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw unreadable(text, cause);
  }
}

function unreadable(text: string, cause?: unknown): CniError {
  const shown = JSON.stringify(text.slice(0, 200));
  return new CniError(errorCodes.decodingFailure, `neither a result nor an error: ${shown}`, { cause });
}
