/**
 * Kubernetes label selectors as text (`kubectl get -l`): requirements divided by commas, all of which must hold.
 * `a=b`, `a==b`, `a!=b`, `a in (x,y)`, `a notin (x,y)`, `a` (is there), `!a` (is not there). As there, `!=` and `notin` hold
 * for who does not have the label at all.
 */
import { isLabelValue, isQualifiedName } from '@podwire/apimachinery';
import { PodwireError } from '@podwire/errors';

export type Labels = Readonly<Record<string, string>>;
export type Selector = (labels: Labels) => boolean;

/** Names and values of labels, parentheses, commas, operators. */
const tokenShape = /\s*(?:(?<word>[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?)|(?<sign>!=|==|[=!(),]))/y;

/** @throws PodwireError REQUEST_INVALID naming the place */
export function parseSelector(text: string): Selector {
  const reader = new Reader(text);
  if (reader.isDone) return () => true;
  const requirements = [readRequirement(reader)];
  while (!reader.isDone) {
    reader.expect(',');
    requirements.push(readRequirement(reader));
  }
  return (labels) => requirements.every((holds) => holds(labels));
}

function readRequirement(reader: Reader): Selector {
  const isAbsent = reader.skip('!');
  const name = reader.name();
  if (isAbsent) return (labels) => !has(labels, name);
  if (reader.skip('=') || reader.skip('==')) {
    const value = reader.value();
    return (labels) => has(labels, name) && labels[name] === value;
  }
  if (reader.skip('!=')) {
    const value = reader.value();
    return (labels) => !has(labels, name) || labels[name] !== value;
  }
  if (reader.skip('in')) {
    const values = readValues(reader);
    return (labels) => has(labels, name) && values.has(labels[name]!);
  }
  if (reader.skip('notin')) {
    const values = readValues(reader);
    return (labels) => !has(labels, name) || !values.has(labels[name]!);
  }
  return (labels) => has(labels, name);
}

function readValues(reader: Reader): ReadonlySet<string> {
  reader.expect('(');
  const values = new Set([reader.value()]);
  while (reader.skip(',')) values.add(reader.value());
  reader.expect(')');
  return values;
}

const has = (labels: Labels, name: string): boolean => Object.hasOwn(labels, name);

interface Token {
  readonly kind: 'word' | 'sign';
  readonly text: string;
  readonly at: number;
}

class Reader {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = readTokens(text);
  }

  get isDone(): boolean {
    return this.#next === this.#tokens.length;
  }

  skip(text: string): boolean {
    if (this.#tokens[this.#next]?.text !== text) return false;
    this.#next++;
    return true;
  }

  expect(text: string): void {
    if (!this.skip(text)) throw this.#refuse(`${JSON.stringify(text)} is expected`);
  }

  name(): string {
    const token = this.#tokens[this.#next];
    if (token?.kind !== 'word' || !isQualifiedName(token.text))
      throw this.#refuse('the name of a label is expected');
    this.#next++;
    return token.text;
  }

  /** May be empty, as label values may. */
  value(): string {
    const token = this.#tokens[this.#next];
    if (token?.kind !== 'word') return '';
    if (!isLabelValue(token.text)) throw this.#refuse('this is no value of a label');
    this.#next++;
    return token.text;
  }

  #refuse(what: string): PodwireError {
    return refuse(this.#text, this.#tokens[this.#next]?.at ?? this.#text.length, what);
  }
}

function readTokens(text: string): Token[] {
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  for (let at = 0; at < end;) {
    tokenShape.lastIndex = at;
    const match = tokenShape.exec(text);
    if (match === null) throw refuse(text, at, 'this cannot be read');
    const { word, sign } = match.groups ?? {};
    at = tokenShape.lastIndex;
    const found = word ?? sign ?? '';
    tokens.push({ kind: word === undefined ? 'sign' : 'word', text: found, at: at - found.length });
  }
  return tokens;
}

function refuse(text: string, at: number, what: string): PodwireError {
  const message = `selector ${JSON.stringify(text)}: ${what}, at character ${at + 1}`;
  return new PodwireError('REQUEST_INVALID', message, { details: { selector: text } });
}
