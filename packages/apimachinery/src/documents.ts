/**
 * From text to values. JSON is read as such, since it is fast; everything else as YAML, with what go-yaml (which
 * Kubernetes uses) understands beyond YAML 1.2: octal numbers, yes/no/on/off, merge keys.
 */
import {
  Composer,
  type CST,
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  type ScalarTag,
  visit,
} from 'yaml';
import { describeYamlError } from '@podwire/platform';
import { findJsonPlaces, jsonPathKey } from './json-places.js';
import { type Path, show } from './path.js';

/** As kubelet: more is no manifest. */
export const mostBytes = 10 * 1024 * 1024;
/** A pod is about ten levels deep. */
export const mostDepth = 64;
/**
 * The yaml package takes about 800 bytes for each word or sign of a text: ten mebibytes of brackets would take more memory
 * than there is. This is enough for some 40,000 lines. JSON and long texts inside YAML cost nothing of the kind.
 */
const mostSigns = 250_000;
/** The size that aliases unfold to, counted as the yaml package does. */
const mostAliases = 100;
/** To find lines, JSON is read a second time: only for texts that were written by hand. */
const mostBytesToLocate = 1024 * 1024;

export interface Place {
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

export interface ManifestDocument {
  readonly value: unknown;
  /** The position of the value, or of the nearest thing around it. */
  locate(path: Path): Place | undefined;
}

export interface TextProblem {
  readonly message: string;
  readonly place?: Place;
}

export interface OpenedText {
  /** Those without content are undefined, so that the others keep their numbers. */
  readonly documents: readonly (ManifestDocument | undefined)[];
  readonly problems: readonly TextProblem[];
}

/** The documents of a text, and what is no YAML. Never throws. */
export function openText(text: string): OpenedText {
  if (Buffer.byteLength(text) > mostBytes) return problemOf('is larger than 10 MiB');
  return openJson(text) ?? openYaml(text);
}

function problemOf(message: string): OpenedText {
  return { documents: [], problems: [{ message }] };
}

/** Undefined when it is no JSON; YAML has the better words for what is wrong. */
function openJson(text: string): OpenedText | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as unknown;
    if (isTooDeep(value)) return problemOf(tooDeep);
    return { documents: [{ value, locate: locateInJson(text) }], problems: [] };
  } catch {
    return undefined;
  }
}

function locateInJson(text: string): ManifestDocument['locate'] {
  let found: { readonly places: ReadonlyMap<string, number>; readonly lines: LineCounter } | undefined;
  return (path) => {
    if (text.length > mostBytesToLocate) return undefined;
    found ??= { places: findJsonPlaces(text), lines: countLines(text) };
    for (let length = path.length; length >= 0; length--) {
      const offset = found.places.get(jsonPathKey(path.slice(0, length)));
      if (offset !== undefined) return placeOf(found.lines, offset);
    }
    return undefined;
  };
}

function countLines(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  return lines;
}

function openYaml(text: string): OpenedText {
  const lines = new LineCounter();
  try {
    const composer = new Composer({ ...yamlOptions, lineCounter: lines });
    const parsed = [...composer.compose(parseWithinLimits(text, lines))];
    const problems: TextProblem[] = [];
    const documents = parsed.map((document) => readDocument(document, lines, problems));
    return { documents, problems };
  } catch (error) {
    return problemOf((error as Error).message);
  }
}

function readDocument(
  document: Document,
  lines: LineCounter,
  problems: TextProblem[],
): ManifestDocument | undefined {
  const [first] = document.errors;
  if (first !== undefined) {
    // The first: what comes behind it follows from it more often than not.
    problems.push({ message: describeYamlError(first.message), place: placeOf(lines, first.pos[0]) });
    return undefined;
  }
  const doubles = findDoubleKeys(document);
  if (doubles.length > 0) {
    for (const { key, offset } of doubles)
      problems.push({ message: `${show(key)} stands in its map already`, place: placeOf(lines, offset) });
    return undefined;
  }
  try {
    const value = document.toJS({ maxAliasCount: mostAliases }) as unknown;
    if (value === null || value === undefined) return undefined;
    if (isTooDeep(value)) {
      problems.push({ message: tooDeep });
      return undefined;
    }
    return {
      value,
      locate(path) {
        const offset = offsetOf(path, document);
        return offset === undefined ? undefined : placeOf(lines, offset);
      },
    };
  } catch (error) {
    const alias = findLooseAlias(document);
    problems.push({
      message: describeYamlError((error as Error).message),
      ...(alias === undefined ? {} : { place: placeOf(lines, alias) }),
    });
    return undefined;
  }
}

/** The position of the first alias whose anchor does not come before it. */
function findLooseAlias(document: Document): number | undefined {
  let found: number | undefined;
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return undefined;
      found = alias.range?.[0];
      return visit.BREAK;
    },
  });
  return found;
}

/** The positions of keys that their map has already. The yaml package compares each with all: ten seconds for 30,000. */
function findDoubleKeys(document: Document): { key: unknown; offset: number }[] {
  const doubles: { key: unknown; offset: number }[] = [];
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) doubles.push({ key: key.value, offset: key.range?.[0] ?? 0 });
        seen.add(key.value);
      }
    },
  });
  return doubles;
}

function placeOf(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}

const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?0[0-7]+$/,
  resolve: (text) => Number.parseInt(text, 8),
};
const word = (value: boolean, test: RegExp): ScalarTag => ({
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  test,
  resolve: () => value,
});
const yamlOptions = {
  schema: 'core',
  merge: true,
  uniqueKeys: false,
  prettyErrors: false,
  customTags: (tags: readonly unknown[]) => [
    octal,
    word(true, /^(?:y|Y|yes|Yes|YES|on|On|ON)$/),
    word(false, /^(?:n|N|no|No|NO|off|Off|OFF)$/),
    ...(tags as ScalarTag[]),
  ],
};

const tooDeep = `is nested more than ${mostDepth} levels deep`;

/** Stops while the text is taken apart: what comes after recurses, and has everything in memory. */
function* parseWithinLimits(text: string, lines: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let signs = 0;
  for (const sign of new Lexer().lex(text)) {
    if (++signs > mostSigns) {
      throw new Error('is too long for YAML; write it as JSON, or as several files');
    }
    yield* parser.next(sign);
    // A level of a block is a map or list, its entry's value, and sometimes the document around it.
    if (parser.stack.length > mostDepth + 2) throw new Error(tooDeep);
  }
  yield* parser.end();
}

/** Level by level, since a recursion would itself be too deep. A value that contains itself (an alias) never ends. */
function isTooDeep(root: unknown): boolean {
  let level: ReadonlySet<unknown> = new Set([root]);
  for (let depth = 0; level.size > 0; depth++) {
    if (depth > mostDepth) return true;
    const next = new Set<unknown>();
    for (const value of level) {
      for (const child of Object.values(value as object)) {
        if (typeof child === 'object' && child !== null) next.add(child);
      }
    }
    level = next;
  }
  return false;
}

function offsetOf(path: Path, document: Document): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const offset = ownOffset(path.slice(0, length), document);
    if (offset !== undefined) return offset;
  }
  return undefined;
}

/** Of a map's entry the key, since that is where people look. */
function ownOffset(path: Path, document: Document): number | undefined {
  const key = path.at(-1);
  const parent: unknown = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents;
  if (key !== undefined && isMap(parent)) {
    const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === key);
    return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
  }
  const node: unknown =
    key === undefined ? document.contents : isSeq(parent) ? parent.get(key, true) : undefined;
  return isNode(node) ? node.range?.[0] : undefined;
}
