/** Reads a template in kubectl's dialect of JSONPath: `{range .pods[*]}{.name}{"\n"}{end}`. Nothing of it is executed as code. */

export type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly start?: number; readonly end?: number; readonly step: number }
  | { readonly kind: 'filter'; readonly condition: Condition }
  | { readonly kind: 'union'; readonly steps: readonly Step[] }
  /** All members. */
  | { readonly kind: 'all' }
  /** The value itself and everything within it. */
  | { readonly kind: 'within' };

export interface Path {
  readonly from: 'current' | 'root';
  readonly steps: readonly Step[];
}

const operators = ['==', '!=', '<=', '>=', '<', '>'] as const;
export type Operator = (typeof operators)[number];

export type Operand = Path | { readonly value: string | number | boolean | null };

export interface Condition {
  readonly left: Operand;
  /** Without an operator: whether the left side is there. */
  readonly operator?: Operator;
  readonly right?: Operand;
}

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'values'; readonly path: Path }
  | { readonly kind: 'range'; readonly path: Path; readonly body: readonly Part[] };

export class JsonPathError extends Error {
  constructor(message: string, at: number) {
    super(`${message}, at character ${at + 1}`);
    this.name = 'JsonPathError';
  }
}

/** @throws JsonPathError */
export function readTemplate(text: string): Part[] {
  // kubectl would print it as it stands, which no reader of a table wants.
  const source = text.includes('{') ? text : `{${/^[.[$@]/.test(text) ? '' : '.'}${text}}`;
  return readParts(new Cursor(source), false);
}

class Cursor {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  get ended(): boolean {
    return this.at >= this.text.length;
  }

  /** Reads the text if it goes on like this; false if not. */
  take(expected: string): boolean {
    if (!this.text.startsWith(expected, this.at)) return false;
    this.at += expected.length;
    return true;
  }

  /** @param pattern sticky */
  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  skipSpace(): void {
    this.match(/\s*/y);
  }

  require(expected: string): void {
    this.skipSpace();
    if (!this.take(expected)) this.fail(`expected ${expected}`);
  }

  fail(message: string): never {
    const found = this.text[this.at];
    throw new JsonPathError(`${message}, found ${found === undefined ? 'the end' : found}`, this.at);
  }
}

function readParts(cursor: Cursor, inRange: boolean): Part[] {
  const parts: Part[] = [];
  while (!cursor.ended) {
    const text = cursor.match(/[^{]+/y);
    if (text !== undefined) parts.push({ kind: 'text', text });
    if (!cursor.take('{')) continue;
    cursor.skipSpace();
    if (cursor.match(/end\s*\}/y) !== undefined) {
      if (inRange) return parts;
      cursor.fail('{end} without {range}');
    }
    parts.push(...readBraces(cursor));
  }
  if (inRange) cursor.fail('expected {end}');
  return parts;
}

/** Reads the text between braces: literals and paths, or the head of a range. */
function readBraces(cursor: Cursor): Part[] {
  if (cursor.match(/range\s+/y) !== undefined) {
    const path = readPath(cursor);
    cursor.require('}');
    return [{ kind: 'range', path, body: readParts(cursor, true) }];
  }
  const parts: Part[] = [];
  for (;;) {
    cursor.skipSpace();
    if (cursor.take('}')) return parts;
    const literal = readQuoted(cursor);
    parts.push(
      literal === undefined ? { kind: 'values', path: readPath(cursor) } : { kind: 'text', text: literal },
    );
  }
}

function readPath(cursor: Cursor): Path {
  const from = cursor.take('$') ? 'root' : 'current';
  const marked = from === 'root' || cursor.take('@');
  const steps: Step[] = [];
  for (;;) {
    const read = readStep(cursor);
    if (read === undefined) break;
    steps.push(...read);
  }
  if (steps.length === 0 && !marked) {
    // `{.}` is the whole.
    if (!cursor.take('.')) cursor.fail('expected a path such as .pods[*].name');
  }
  return { from, steps };
}

function readStep(cursor: Cursor): Step[] | undefined {
  if (cursor.take('..')) return [{ kind: 'within' }, ...readMember(cursor)];
  if (cursor.take('[')) return [readBrackets(cursor)];
  const before = cursor.at;
  if (!cursor.take('.')) return undefined;
  if (/[\s}\])=!<>]/.test(cursor.text[cursor.at] ?? ' ')) {
    cursor.at = before;
    return undefined;
  }
  return readMember(cursor);
}

/** The name behind a dot; a dot within a name is written `\.` */
function readMember(cursor: Cursor): Step[] {
  if (cursor.take('[')) return [readBrackets(cursor)];
  if (cursor.take('*')) return [{ kind: 'all' }];
  const name = cursor.match(/(?:\\.|[^\s.[\](){}'"=!<>|,*?\\])+/y);
  if (name === undefined) cursor.fail('expected the name of a field');
  return [{ kind: 'field', name: name.replaceAll(/\\(.)/g, '$1') }];
}

function readBrackets(cursor: Cursor): Step {
  cursor.skipSpace();
  if (cursor.take('?')) {
    cursor.require('(');
    const condition = readCondition(cursor);
    cursor.require(')');
    cursor.require(']');
    return { kind: 'filter', condition };
  }
  const steps: Step[] = [];
  do {
    cursor.skipSpace();
    steps.push(readSelector(cursor));
    cursor.skipSpace();
  } while (cursor.take(','));
  cursor.require(']');
  return steps.length === 1 ? steps[0]! : { kind: 'union', steps };
}

function readSelector(cursor: Cursor): Step {
  if (cursor.take('*')) return { kind: 'all' };
  const quoted = readQuoted(cursor);
  if (quoted !== undefined) return { kind: 'field', name: quoted };
  const slice = cursor.match(/-?\d*\s*:\s*-?\d*(?:\s*:\s*-?\d*)?/y);
  if (slice !== undefined) return readSlice(cursor, slice);
  const index = cursor.match(/-?\d+/y);
  if (index === undefined) cursor.fail('expected a number, a name in quotes, * or ?(…)');
  return { kind: 'index', index: Number(index) };
}

function readSlice(cursor: Cursor, text: string): Step {
  const [start, end, step] = text.split(':').map((part) => (part.trim() === '' ? undefined : Number(part)));
  if ((step ?? 1) < 1 || Number.isNaN(step ?? 1)) cursor.fail('the step of a slice must be at least 1');
  return {
    kind: 'slice',
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
    step: step ?? 1,
  };
}

function readCondition(cursor: Cursor): Condition {
  const left = readOperand(cursor);
  cursor.skipSpace();
  const operator = operators.find((each) => cursor.take(each));
  return operator === undefined ? { left } : { left, operator, right: readOperand(cursor) };
}

function readOperand(cursor: Cursor): Operand {
  cursor.skipSpace();
  const quoted = readQuoted(cursor);
  if (quoted !== undefined) return { value: quoted };
  const number = cursor.match(/-?\d+(?:\.\d+)?/y);
  if (number !== undefined) return { value: Number(number) };
  const word = cursor.match(/(?:true|false|null)\b/y);
  if (word !== undefined) return { value: JSON.parse(word) as boolean | null };
  return readPath(cursor);
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function readQuoted(cursor: Cursor): string | undefined {
  const quoted = cursor.match(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/sy);
  return quoted
    ?.slice(1, -1)
    .replaceAll(/\\(.)/gs, (_, character: string) => escapes[character] ?? character);
}
