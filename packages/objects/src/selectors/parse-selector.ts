/**
 * Calico's grammar of selectors, as its documentation of `selector` has it: comparisons of labels, joined with `&&`, `||` and
 * `!`; `!` binds closest, `||` least. An empty text selects everything.
 */
import type { Selector } from './selector.js';
import { SelectorFault, type SelectorProblem, type Token, tokenize } from './tokens.js';

export type ParsedSelector =
  | { readonly ok: true; readonly selector: Selector }
  | { readonly ok: false; readonly problem: SelectorProblem };

export interface ParseOptions {
  /**
   * It selects namespaces by their labels. `all()` means whatever lies in a namespace, and `global()` what lies in none: every
   * namespace has the label `kubernetes.io/metadata.name`, and what lies in none has no labels.
   */
  readonly ofNamespaces?: boolean | undefined;
}

const longest = 64 * 1024;
/** Of parentheses and `!`, each of which is one call within another. */
const deepest = 64;

export function parseSelector(text: string, options: ParseOptions = {}): ParsedSelector {
  if (text.length > longest) return refuse(`has more than ${longest} characters`, longest);
  if (text.trim() === '') return { ok: true, selector: { is: 'all' } };
  try {
    return { ok: true, selector: new Parser(tokenize(text), text.length, options).parse() };
  } catch (error) {
    if (error instanceof SelectorFault) return refuse(error.message, error.at);
    throw error;
  }
}

const refuse = (message: string, at: number): ParsedSelector => ({ ok: false, problem: { at, message } });

const inNamespace: Selector = { is: 'has', key: 'kubernetes.io/metadata.name' };

const negate = (of: Selector): Selector => ({ is: 'not', of });

class Parser {
  readonly #tokens: readonly Token[];
  readonly #end: number;
  readonly #options: ParseOptions;
  #at = 0;

  constructor(tokens: readonly Token[], end: number, options: ParseOptions) {
    this.#tokens = tokens;
    this.#end = end;
    this.#options = options;
  }

  parse(): Selector {
    const selector = this.#or(0);
    if (this.#at < this.#tokens.length) throw this.#fault('expected && or ||, found');
    return selector;
  }

  #or(depth: number): Selector {
    const parts = [this.#and(depth)];
    while (this.#accept('||')) parts.push(this.#and(depth));
    return parts.length === 1 ? parts[0]! : { is: 'or', of: parts };
  }

  #and(depth: number): Selector {
    const parts = [this.#operation(depth)];
    while (this.#accept('&&')) parts.push(this.#operation(depth));
    return parts.length === 1 ? parts[0]! : { is: 'and', of: parts };
  }

  #operation(depth: number): Selector {
    if (depth > deepest) throw this.#fault('is nested too deeply at');
    if (this.#accept('!')) return negate(this.#operation(depth + 1));
    if (this.#accept('(')) {
      const inner = this.#or(depth + 1);
      this.#demand(')');
      return inner;
    }
    const name = this.#take('word', 'a label, has(), all(), ! or (');
    return this.#peek() === '(' ? this.#call(name) : this.#comparison(name.value);
  }

  #call(name: Token): Selector {
    this.#demand('(');
    const isHas = name.value === 'has';
    const key = isHas ? this.#take('word', 'a label').value : '';
    this.#demand(')');
    if (isHas) return { is: 'has', key };
    if (name.value === 'all') return this.#options.ofNamespaces === true ? inNamespace : { is: 'all' };
    if (name.value !== 'global')
      throw new SelectorFault(`${name.value}() is no function; there are has(), all() and global()`, name.at);
    if (this.#options.ofNamespaces === true) return negate(inNamespace);
    throw new SelectorFault('global() stands in a namespaceSelector only', name.at);
  }

  #comparison(key: string): Selector {
    if (this.#accept('==')) return { is: 'in', key, values: [this.#value()] };
    if (this.#accept('!=')) return negate({ is: 'in', key, values: [this.#value()] });
    if (this.#accept('in')) return { is: 'in', key, values: this.#values() };
    if (this.#accept('notin')) return negate({ is: 'in', key, values: this.#values() });
    if (this.#accept('not')) {
      this.#demand('in');
      return negate({ is: 'in', key, values: this.#values() });
    }
    if (this.#accept('contains')) return { is: 'contains', key, value: this.#value() };
    if (this.#accept('starts')) return { is: 'startsWith', key, value: this.#valueAfterWith() };
    if (this.#accept('ends')) return { is: 'endsWith', key, value: this.#valueAfterWith() };
    throw this.#fault(
      'expected ==, !=, in, not in, contains, starts with or ends with behind the label, found',
    );
  }

  #valueAfterWith(): string {
    this.#demand('with');
    return this.#value();
  }

  #values(): string[] {
    this.#demand('{');
    const values: string[] = [];
    while (this.#peek() !== '}') {
      values.push(this.#value());
      if (!this.#accept(',')) break;
    }
    this.#demand('}');
    return values;
  }

  #value(): string {
    return this.#take('text', 'a value in quotes').value;
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
    if (!this.#accept(value)) throw this.#fault(`expected ${value}, found`);
  }

  #take(kind: Token['kind'], wanted: string): Token {
    const next = this.#tokens[this.#at];
    if (next?.kind !== kind) throw this.#fault(`expected ${wanted}, found`);
    this.#at++;
    return next;
  }

  #fault(message: string): SelectorFault {
    const next = this.#tokens[this.#at];
    return next === undefined
      ? new SelectorFault(`${message} the end`, this.#end)
      : new SelectorFault(`${message} ${JSON.stringify(next.value)}`, next.at);
  }
}
