/**
 * Calico's selectors over labels, translated into the Kubernetes label selectors that pools have: a list of requirements that
 * must all hold. Calico can say more (`||`, parts of values): what has no equal is refused, never approximated.
 */

import { isLabelValue, isQualifiedName } from '@podwire/apimachinery';

type Requirement =
  | { readonly op: 'in' | 'notin'; readonly key: string; readonly values: readonly string[] }
  | { readonly op: 'exists' | 'missing'; readonly key: string };

type Expression =
  | { readonly kind: 'always' | 'never' }
  | { readonly kind: 'requirement'; readonly requirement: Requirement }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Expression[] };

export type Translation =
  | { readonly selects: 'all' | 'none' }
  /** Text of a Kubernetes label selector, and the labels that it asks for. */
  | { readonly selects: 'some'; readonly text: string; readonly keys: readonly string[] };

/** @throws Error in words for text that is no selector, or that has no equal */
export function translateSelector(text: string): Translation {
  if (text.trim() === '') return { selects: 'all' };
  const requirements = flatten(new Parser(text).parse());
  if (requirements === 'never') return { selects: 'none' };
  if (requirements.length === 0) return { selects: 'all' };
  return {
    selects: 'some',
    text: requirements.map(format).join(','),
    keys: [...new Set(requirements.map(({ key }) => key))],
  };
}

/** Requirements that must all hold; `never` for an expression that nothing satisfies. */
function flatten(expression: Expression): readonly Requirement[] | 'never' {
  switch (expression.kind) {
    case 'always':
      return [];
    case 'never':
      return 'never';
    case 'requirement':
      return [expression.requirement];
    case 'and': {
      const parts = expression.parts.map(flatten);
      return parts.some((part) => part === 'never')
        ? 'never'
        : parts.flatMap((part) => (part === 'never' ? [] : part));
    }
    case 'or':
      return flattenOr(expression.parts.map(flatten));
  }
}

/** `a == "x" || a == "y"` is `a in (x,y)`; no other choice can be said. */
function flattenOr(parts: readonly (readonly Requirement[] | 'never')[]): readonly Requirement[] | 'never' {
  const possible = parts.filter((part) => part !== 'never');
  if (possible.some((part) => part.length === 0)) return [];
  const [first, ...others] = possible;
  if (first === undefined) return 'never';
  if (others.length === 0) return first;
  const choices = possible.map((part) => (part.length === 1 ? part[0] : undefined));
  const key = choices[0]?.key;
  const values = choices.map((each) => (each?.op === 'in' && each.key === key ? each.values : undefined));
  if (key === undefined || values.includes(undefined))
    throw new Error(
      '|| between different labels cannot be said; make a pool for each part, or label the nodes',
    );
  return [{ op: 'in', key, values: [...new Set(values.flatMap((each) => each ?? []))] }];
}

function format(requirement: Requirement): string {
  const { op, key } = requirement;
  if (!('values' in requirement)) return op === 'exists' ? key : `!${key}`;
  const [only, ...more] = requirement.values;
  if (more.length === 0) return `${key}${op === 'in' ? '=' : '!='}${only}`;
  return `${key} ${op} (${requirement.values.join(',')})`;
}

const token = /\s*(?:(&&|\|\||==|!=|!|\(|\)|\{|\}|,)|"([^"]*)"|'([^']*)'|([A-Za-z0-9_./-]+))/y;

interface Token {
  readonly kind: 'sign' | 'text' | 'word';
  readonly value: string;
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  token.lastIndex = 0;
  const end = text.trimEnd().length;
  while (token.lastIndex < end) {
    const at = token.lastIndex;
    const [, sign, double, single, word] = token.exec(text) ?? [];
    if (sign !== undefined) tokens.push({ kind: 'sign', value: sign });
    else if (word !== undefined) tokens.push({ kind: 'word', value: word });
    else if (double !== undefined || single !== undefined)
      tokens.push({ kind: 'text', value: double ?? single ?? '' });
    else throw new Error(`cannot be read from ${JSON.stringify(text.slice(at, at + 20))}`);
  }
  return tokens;
}

/** Negations go inwards while it is read. No selector is nested deeper than this. */
const deepest = 64;

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  parse(): Expression {
    const expression = this.#or(false, 0);
    if (this.#at < this.#tokens.length) throw new Error(`something is left ${this.#where()}`);
    return expression;
  }

  #or(negated: boolean, depth: number): Expression {
    if (depth > deepest) throw new Error('is nested too deeply');
    const parts = [this.#and(negated, depth)];
    while (this.#accept('||')) parts.push(this.#and(negated, depth));
    return { kind: negated ? 'and' : 'or', parts };
  }

  #and(negated: boolean, depth: number): Expression {
    const parts = [this.#operation(negated, depth)];
    while (this.#accept('&&')) parts.push(this.#operation(negated, depth));
    return { kind: negated ? 'or' : 'and', parts };
  }

  #operation(outer: boolean, depth: number): Expression {
    let negated = outer;
    while (this.#accept('!')) negated = !negated;
    if (this.#accept('(')) {
      const inner = this.#or(negated, depth + 1);
      this.#demand(')');
      return inner;
    }
    const name = this.#take('word', 'a label');
    if (this.#accept('(')) return this.#call(name, negated);
    return { kind: 'requirement', requirement: this.#comparison(checkKey(name), negated) };
  }

  #call(name: string, negated: boolean): Expression {
    if (name === 'has') {
      const key = checkKey(this.#take('word', 'a label'));
      this.#demand(')');
      return { kind: 'requirement', requirement: { op: negated ? 'missing' : 'exists', key } };
    }
    this.#demand(')');
    if (name === 'all') return { kind: negated ? 'never' : 'always' };
    throw new Error(`${name}() means nothing for nodes`);
  }

  #comparison(key: string, negated: boolean): Requirement {
    if (this.#accept('==')) return { op: negated ? 'notin' : 'in', key, values: [this.#value()] };
    if (this.#accept('!=')) return { op: negated ? 'in' : 'notin', key, values: [this.#value()] };
    const isNot = this.#accept('notin') || (this.#accept('not') && (this.#demand('in'), true));
    if (isNot || this.#accept('in'))
      return { op: isNot === negated ? 'in' : 'notin', key, values: this.#set() };
    const operator = this.#peek() ?? '';
    if (['contains', 'starts', 'ends'].includes(operator))
      throw new Error(
        `parts of values (${operator}) cannot be asked for; list the values, or label the nodes`,
      );
    throw new Error(`expected an operator ${this.#where()}`);
  }

  #set(): string[] {
    this.#demand('{');
    const values = new Set<string>();
    while (this.#peek() !== '}') {
      values.add(this.#value());
      if (!this.#accept(',')) break;
    }
    this.#demand('}');
    if (values.size === 0) throw new Error('an empty set cannot be asked for');
    return [...values];
  }

  #value(): string {
    return checkValue(this.#take('text', 'a quoted value'));
  }

  #peek(): string | undefined {
    const next = this.#tokens[this.#at];
    return next?.kind === 'text' ? undefined : next?.value;
  }

  #accept(value: string): boolean {
    if (this.#peek() !== value) return false;
    this.#at++;
    return true;
  }

  #demand(value: string): void {
    if (!this.#accept(value)) throw new Error(`expected ${value} ${this.#where()}`);
  }

  #take(kind: Token['kind'], description: string): string {
    const next = this.#tokens[this.#at];
    if (next?.kind !== kind) throw new Error(`expected ${description} ${this.#where()}`);
    this.#at++;
    return next.value;
  }

  #where(): string {
    const next = this.#tokens[this.#at];
    return next === undefined ? 'at the end' : `before ${JSON.stringify(next.value)}`;
  }
}

function checkKey(key: string): string {
  if (!isQualifiedName(key)) throw new Error(`${JSON.stringify(key)} is no name of a label`);
  return key;
}

function checkValue(value: string): string {
  if (!isLabelValue(value)) throw new Error(`${JSON.stringify(value)} is no value that a label can have`);
  return value;
}
