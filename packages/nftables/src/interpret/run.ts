/**
 * Runs a packet through rules that are data, as the kernel would: what a renderer has made can be tried without root. It covers what
 * `Statement` has, no more.
 */
import { containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import type {
  BaseChain,
  ChainDeclaration,
  Field,
  FieldValue,
  RuleDeclaration,
  Statement,
} from '../rules/statement.js';
import type { Element, Verdict } from '../element.js';
import { type Marks, readField, type RulePacket } from './packet.js';
import { indexSets, normalize, type SetIndex, type TableContent } from './table.js';

export interface Outcome {
  readonly verdict: 'accept' | 'drop';
  /** The chain of the last verdict. */
  readonly chain: string;
  /** Prefixes of what was logged. */
  readonly logs: readonly string[];
  readonly mark: number;
  readonly ctMark: number;
}

export interface Interpreter {
  /** Through all base chains of a hook, by priority: an accept goes on to the next, a drop ends it. */
  run(hook: BaseChain['hook'], packet: RulePacket): Outcome;
}

/** @throws RangeError for rules that name a chain or set that is not there; at a run: also for endless jumps */
export function createInterpreter(content: TableContent): Interpreter {
  const chains = new Map(content.chains.map((chain) => [chain.name, chain]));
  const sets = indexSets(content);
  return {
    run(hook, packet) {
      const walk = new Walk(chains, sets, packet);
      for (const chain of baseChains(content.chains, hook)) if (walk.enter(chain) === 'drop') break;
      return walk.outcome;
    },
  };
}

const baseChains = (chains: readonly ChainDeclaration[], hook: string): ChainDeclaration[] =>
  chains
    .filter(({ base }) => base?.hook === hook)
    .sort((a, b) => (a.base?.priority ?? 0) - (b.base?.priority ?? 0));

/** `undefined`: the rule, or the chain, has said nothing. */
type Result = 'accept' | 'drop' | 'return' | undefined;

/** The kernel's own limit of jumps within jumps (NFT_JUMP_STACK_SIZE). */
const deepest = 16;

class Walk {
  readonly #chains: ReadonlyMap<string, ChainDeclaration>;
  readonly #sets: ReadonlyMap<string, SetIndex>;
  readonly #packet: RulePacket;
  readonly #marks: Marks;
  readonly #logs: string[] = [];
  #verdict: 'accept' | 'drop' = 'accept';
  #chain = '';

  constructor(
    chains: ReadonlyMap<string, ChainDeclaration>,
    sets: ReadonlyMap<string, SetIndex>,
    packet: RulePacket,
  ) {
    this.#chains = chains;
    this.#sets = sets;
    this.#packet = packet;
    this.#marks = { mark: packet.mark ?? 0, ctMark: packet.ctMark ?? 0 };
  }

  get outcome(): Outcome {
    return { verdict: this.#verdict, chain: this.#chain, logs: this.#logs, ...this.#marks };
  }

  /** A base chain: what falls out of it gets its policy. */
  enter(chain: ChainDeclaration): 'accept' | 'drop' {
    const result = this.#walk(chain.name, 0);
    const isDecided = result === 'accept' || result === 'drop';
    if (!isDecided) this.#chain = chain.name;
    this.#verdict = isDecided ? result : (chain.base?.policy ?? 'accept');
    return this.#verdict;
  }

  #walk(name: string, depth: number): Result {
    const chain = this.#chains.get(name);
    if (chain === undefined) throw new RangeError(`a jump to the chain ${name}, which is not there`);
    if (depth > deepest) throw new RangeError(`more than ${deepest} jumps, the last to ${name}`);
    for (const rule of chain.rules) {
      const result = this.#apply(rule, name, depth);
      if (result === 'return') return undefined;
      if (result !== undefined) return result;
    }
    return undefined;
  }

  /** Statements from the left; the first that does not match ends the rule. */
  #apply(rule: RuleDeclaration, chain: string, depth: number): Result {
    for (const statement of rule.statements) {
      const verdict = this.#do(statement);
      if (verdict === false) return undefined;
      if (verdict !== true) return this.#follow(verdict, chain, depth);
    }
    return undefined;
  }

  #follow(verdict: Verdict, chain: string, depth: number): Result {
    if (verdict.verdict === 'continue') return undefined;
    // Behind a goto nothing of this chain is read any more.
    if (verdict.verdict === 'goto') return this.#walk(verdict.chain, depth + 1) ?? 'return';
    if (verdict.verdict === 'jump') return this.#walk(verdict.chain, depth + 1);
    if (verdict.verdict !== 'return') this.#chain = chain;
    return verdict.verdict;
  }

  /** True if the rule goes on, false if it ends here, or the verdict. */
  #do(statement: Statement): boolean | Verdict {
    switch (statement.is) {
      case 'accept':
      case 'drop':
      case 'return':
        return { verdict: statement.is };
      case 'jump':
      case 'goto':
        return { verdict: statement.is, chain: statement.chain };
      case 'vmap': {
        const found = this.#find(statement.map, statement.fields);
        return found === 'absent' ? false : (found?.verdict ?? true);
      }
      case 'log':
        this.#logs.push(statement.prefix);
        return true;
      case 'set-mark':
        this.#mark(statement);
        return true;
      default:
        return this.#matches(statement);
    }
  }

  #matches(statement: Statement): boolean {
    switch (statement.is) {
      case 'match':
        return this.#compare(statement.field, statement.op, (value) => isValue(value, statement));
      case 'range':
        return this.#compare(
          statement.field,
          statement.op,
          (value) => Number(value) >= statement.first && Number(value) <= statement.last,
        );
      case 'ct-state':
        return statement.states.includes(this.#packet.state);
      case 'ct-status':
        return this.#packet.isTranslated?.[statement.status] === true;
      case 'lookup': {
        const found = this.#find(statement.set, statement.fields);
        return found !== 'absent' && (found === undefined) === (statement.negate === true);
      }
      case 'counter':
      case 'limit':
      case 'notrack':
        return true;
      default:
        throw new RangeError(`no statement that is known here: ${statement.is}`);
    }
  }

  /** `absent`: the packet has not all of the fields. */
  #find(set: string, fields: readonly Field[]): Element | undefined | 'absent' {
    const index = this.#sets.get(set);
    if (index === undefined) throw new RangeError(`a look into the set ${set}, which is not there`);
    const key = fields.map((field) => readField(field, this.#packet, this.#marks));
    return key.includes(undefined) ? 'absent' : index.find(key as FieldValue[]);
  }

  #mark({ target, value, mask = 0xffff_ffff }: Extract<Statement, { is: 'set-mark' }>): void {
    const field = target === 'mark' ? 'mark' : 'ctMark';
    this.#marks[field] = ((this.#marks[field] & ~mask) | (value & mask)) >>> 0;
  }

  #compare(field: Field, op: '==' | '!=' = '==', holds: (value: FieldValue) => boolean): boolean {
    const value = readField(field, this.#packet, this.#marks);
    return value !== undefined && holds(value) === (op === '==');
  }
}

function isValue(actual: FieldValue, { value, mask }: { value: FieldValue; mask?: number }): boolean {
  if (mask !== undefined) return (Number(actual) & mask) >>> 0 === Number(value) >>> 0;
  if (typeof value !== 'string') return normalize(actual) === normalize(value);
  if (value.endsWith('*')) return `${actual}`.startsWith(value.slice(0, -1));
  if (value.includes('/')) return containsAddress(parsePrefix(value), parseAddress(`${actual}`));
  return normalize(actual) === normalize(value);
}
