/** Files as a list of values: JSON, several JSON documents one after the other, YAML of several documents. */
import { parseAllDocuments } from 'yaml';

/** @throws Error with the line of what cannot be read */
export function readDocuments(text: string): unknown[] {
  const json = readJson(text);
  if (json !== undefined) return json;
  // Resources have no anchors; an alias that is repeated without end is an attack.
  const documents = parseAllDocuments(text);
  return Array.from(documents, (document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(error.message.split('\n', 1)[0]);
    return document.toJS({ maxAliasCount: 0 }) as unknown;
  });
}

/** Undefined when it is not JSON at all. Large dumps are JSON, and YAML of that size takes minutes. */
function readJson(text: string): unknown[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return [JSON.parse(text) as unknown];
  } catch {
    return readJsonLines(text);
  }
}

/** Pages that were appended to one file. */
function readJsonLines(text: string): unknown[] | undefined {
  try {
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line): unknown => JSON.parse(line));
  } catch {
    return undefined;
  }
}
