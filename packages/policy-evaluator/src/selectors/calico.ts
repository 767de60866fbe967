/**
 * Calico's selectors, by the grammar in the comments of its types: `==`, `!=`, `in`, `not in`, `has()`, `contains`, `starts with`,
 * `ends with`, `!`, `&&` (binds stronger than `||`), parentheses, `all()`. An empty text matches everything.
 */
import type { Labels } from '../cluster.js';
import { readLabel } from './kubernetes.js';

export type Matcher = (labels: Labels) => boolean;

/** @throws SyntaxError naming the text and the place */
export const parseCalicoSelector = (text: string): Matcher => parse(text, false);

/**
 * A selector of namespaces. What lies in no namespace has no labels here: `all()` is whatever lies in one, `global()` what does not.
 */
export const parseNamespaceSelector = (text: string): Matcher => parse(text, true);

function parse(text: string, isOfNamespaces: boolean): Matcher {
  if (text.trim() === '') return () => true;
  const reader = new Reader(text, isOfNamespaces);
  const matcher = readAlternatives(reader);
  if (!reader.isAtEnd) reader.fail();
  return matcher;
}

/** Every namespace has this label. */
const isInNamespace: Matcher = (labels) => readLabel(labels, 'kubernetes.io/metadata.name') !== undefined;

class Reader {
  readonly #text: string;
  #rest: string;

  readonly isOfNamespaces: boolean;

  constructor(text: string, isOfNamespaces: boolean) {
    this.isOfNamespaces = isOfNamespaces;
    this.#text = text;
    this.#rest = text.trimStart();
  }

  get isAtEnd(): boolean {
    return this.#rest === '';
  }

  /** Takes what the pattern finds here, and blanks behind it. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    const found = new RegExp(`^(?:${pattern.source})[ \\t]*`).exec(this.#rest) ?? undefined;
    if (found !== undefined) this.#rest = this.#rest.slice(found[0].length);
    return found;
  }

  fail(): never {
    const position = this.#text.length - this.#rest.length;
    throw new SyntaxError(`not a selector, from character ${position + 1} on: ${JSON.stringify(this.#text)}`);
  }
}

function readAlternatives(reader: Reader): Matcher {
  const parts = [readConjunction(reader)];
  while (reader.take(/\|\|/)) parts.push(readConjunction(reader));
  return (labels) => parts.some((part) => part(labels));
}

function readConjunction(reader: Reader): Matcher {
  const parts = [readTerm(reader)];
  while (reader.take(/&&/)) parts.push(readTerm(reader));
  return (labels) => parts.every((part) => part(labels));
}

function readTerm(reader: Reader): Matcher {
  if (reader.take(/!(?!=)/)) {
    const negated = readTerm(reader);
    return (labels) => !negated(labels);
  }
  if (reader.take(/\(/)) {
    const inner = readAlternatives(reader);
    if (!reader.take(/\)/)) reader.fail();
    return inner;
  }
  if (reader.take(/all\([ \t]*\)/)) return reader.isOfNamespaces ? isInNamespace : () => true;
  if (reader.isOfNamespaces && reader.take(/global\([ \t]*\)/)) return (labels) => !isInNamespace(labels);
  const has = reader.take(/has\([ \t]*([A-Za-z0-9_./-]+)[ \t]*\)/)?.[1];
  if (has !== undefined) return (labels) => readLabel(labels, has) !== undefined;
  return readComparison(reader);
}

function readComparison(reader: Reader): Matcher {
  const key = reader.take(/([A-Za-z0-9_./-]+)/)?.[1] ?? reader.fail();
  const compare = readOperator(reader);
  return (labels) => compare(readLabel(labels, key));
}

/** The condition on the label's value. Absent labels are unequal to everything, and in no set. */
function readOperator(reader: Reader): (value: string | undefined) => boolean {
  if (reader.take(/==/)) return equals(readText(reader));
  if (reader.take(/!=/)) return negate(equals(readText(reader)));
  if (reader.take(/not[ \t]*in/)) return negate(isIn(readSet(reader)));
  if (reader.take(/in/)) return isIn(readSet(reader));
  if (reader.take(/contains/)) return test((value, part) => value.includes(part), readText(reader));
  if (reader.take(/starts[ \t]*with/)) return test((value, part) => value.startsWith(part), readText(reader));
  if (reader.take(/ends[ \t]*with/)) return test((value, part) => value.endsWith(part), readText(reader));
  return reader.fail();
}

type Test = (value: string | undefined) => boolean;

const equals =
  (text: string): Test =>
  (value) =>
    value === text;
const isIn =
  (texts: readonly string[]): Test =>
  (value) =>
    value !== undefined && texts.includes(value);
const negate =
  (of: Test): Test =>
  (value) =>
    !of(value);
const test =
  (holds: (value: string, part: string) => boolean, part: string): Test =>
  (value) =>
    value !== undefined && holds(value, part);

function readText(reader: Reader): string {
  const found = reader.take(/"([^"]*)"|'([^']*)'/) ?? reader.fail();
  return found[1] ?? found[2] ?? '';
}

function readSet(reader: Reader): string[] {
  const texts: string[] = [];
  if (!reader.take(/\{/)) reader.fail();
  while (!reader.take(/\}/)) {
    texts.push(readText(reader));
    // A comma may also stand behind the last one.
    if (!reader.take(/,/)) {
      if (!reader.take(/\}/)) reader.fail();
      return texts;
    }
  }
  return texts;
}
