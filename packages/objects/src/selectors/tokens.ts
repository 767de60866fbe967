/** The words and signs of Calico's selectors. */

export interface Token {
  readonly kind: 'sign' | 'text' | 'word';
  readonly value: string;
  /** Characters in front of it. */
  readonly at: number;
}

/** An error in a text, and its place: characters from the beginning. */
export interface SelectorProblem {
  readonly at: number;
  readonly message: string;
}

/** Carries a problem from where it is found to the reader's public function; no caller of the package sees it. */
export class SelectorFault extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const pattern = /\s*(?:(&&|\|\||==|!=|!|\(|\)|\{|\}|,)|"([^"]*)"|'([^']*)'|([A-Za-z0-9_./-]+))/y;

/** @throws SelectorFault */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  pattern.lastIndex = 0;
  const end = text.trimEnd().length;
  while (pattern.lastIndex < end) {
    const from = pattern.lastIndex;
    const found = pattern.exec(text);
    if (found === null) throw unreadable(text, from);
    tokens.push(toToken(found, from));
  }
  return tokens;
}

function toToken([all, sign, double, single, word]: RegExpExecArray, from: number): Token {
  const at = from + all.length - all.trimStart().length;
  if (sign !== undefined) return { kind: 'sign', value: sign, at };
  if (word !== undefined) return { kind: 'word', value: word, at };
  return { kind: 'text', value: double ?? single ?? '', at };
}

function unreadable(text: string, from: number): SelectorFault {
  const at = from + text.slice(from).search(/\S/);
  const sign = text[at]!;
  if (sign === '"' || sign === "'") return new SelectorFault('a quote is not closed', at);
  const hint = sign === '=' || sign === '&' || sign === '|' ? `; write ${sign}${sign}` : '';
  return new SelectorFault(`${JSON.stringify(sign)} means nothing here${hint}`, at);
}
