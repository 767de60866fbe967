import type { z } from 'zod';
import { type Document, isMap, isNode, isScalar, type LineCounter } from 'yaml';
import { suggestWord } from '@podwire/platform';

/** One thing that is wrong with a configuration file. Lines and columns count from 1. */
export interface ConfigProblem {
  /** `networks[0].pools[1].cidr`; empty for the document itself. */
  readonly path: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

type Path = readonly PropertyKey[];

/** Turns what the schema refused into problems, in the order of the file. */
export function describeIssues(
  issues: readonly z.core.$ZodIssue[],
  document: Document,
  lines: LineCounter,
  knownKeys: (path: Path) => readonly string[],
): ConfigProblem[] {
  const problems = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({
          path: [...issue.path, key],
          message: unknownKey(key, knownKeys(issue.path)),
        }))
      : [{ path: issue.path, message: issue.message }],
  );
  return problems
    .map(({ path, message }) => ({ path: formatPath(path), message, ...locate(path, document, lines) }))
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

function unknownKey(key: string, known: readonly string[]): string {
  const near = suggestWord(key, known);
  return near === undefined
    ? `unknown key; known here: ${known.join(', ')}`
    : `unknown key; did you mean ${near}?`;
}

export function formatPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}

/** The place of the value at `path`, or of the nearest thing around it that stands in the file. */
function locate(path: Path, document: Document, lines: LineCounter): { line?: number; column?: number } {
  for (let length = path.length; length >= 0; length--) {
    const offset = offsetOf(path.slice(0, length), document);
    if (offset !== undefined) {
      const { line, col } = lines.linePos(offset);
      return { line, column: col };
    }
  }
  return {};
}

/** Where the key (in a map) or the item (in a list) begins. */
function offsetOf(path: Path, document: Document): number | undefined {
  const key = path.at(-1);
  const parent = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents;
  if (key !== undefined && isMap(parent)) {
    const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === key);
    return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
  }
  const node = key === undefined ? document.contents : document.getIn(path, true);
  return isNode(node) ? node.range?.[0] : undefined;
}

/** `FILE:LINE:COLUMN: PATH: MESSAGE`, one line each. */
export function formatProblem(file: string, { path, message, line, column }: ConfigProblem): string {
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  return path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
}
