/** Rules in the kernel's instructions. They are those that nft makes of the same text, so that `nft list` reads them back. */
import { addressToBytes, parsePrefix } from '@podwire/addresses';
import type { PayloadWriter } from '@podwire/netlink';
import type { Family } from '../protocol.js';
import { encodeValues } from '../values.js';
import { ctKeys, ExpressionWriter, FIRST_REGISTER, metaKeys } from './expressions.js';
import { fieldAccess } from './fields.js';
import type { CtState, Field, FieldValue, Statement } from './statement.js';

const ctStates: Readonly<Record<CtState, number>> = {
  ...{ invalid: 1, established: 2, related: 4, new: 8, untracked: 64 },
};
/** IPS_SRC_NAT and IPS_DST_NAT (nf_conntrack_common.h). */
const ctStatuses = { snat: 16, dnat: 32 } as const;
const ALL_BITS = 0xffff_ffff;
const NO_BITS = Buffer.alloc(4);

const word = (value: number): Uint8Array => encodeValues([{ type: 'mark', value: value >>> 0 }]);

/** Appends the statements of one rule in a table of a family. @throws RangeError for what cannot be written */
export function writeStatements(
  writer: PayloadWriter,
  family: Family,
  statements: readonly Statement[],
): void {
  const rule = new RuleWriter(new ExpressionWriter(writer), family);
  for (const statement of statements) rule.add(statement);
}

class RuleWriter {
  readonly #to: ExpressionWriter;
  /** Properties that all packets have which reach this place of the rule. */
  readonly #known: { nfproto?: FieldValue; l4proto?: number };

  constructor(to: ExpressionWriter, family: Family) {
    this.#to = to;
    this.#known = family === 'ip' ? { nfproto: 'ipv4' } : family === 'ip6' ? { nfproto: 'ipv6' } : {};
  }

  add(statement: Statement): void {
    const to = this.#to;
    switch (statement.is) {
      case 'match':
        return this.#match(statement);
      case 'range':
        return this.#range(statement);
      case 'ct-state': {
        const bits = statement.states.reduce((sum, state) => sum | ctStates[state], 0);
        return this.#anyBit(ctKeys.state, bits);
      }
      case 'ct-status':
        return this.#anyBit(ctKeys.status, ctStatuses[statement.status]);
      case 'lookup':
        this.#load(statement.fields);
        return to.lookUp(statement.set, statement.negate);
      case 'vmap':
        this.#load(statement.fields);
        return to.mapToVerdict(statement.map);
      case 'counter':
        return to.counter();
      case 'log':
        return to.log(statement.group, statement.prefix, statement.snaplen);
      case 'limit':
        return to.limit(statement.perSecond, statement.burst);
      case 'notrack':
        return to.notrack();
      case 'set-mark':
        return this.#setMark(statement);
      case 'jump':
      case 'goto':
        return to.verdict({ verdict: statement.is, chain: statement.chain });
      case 'accept':
      case 'drop':
      case 'return':
        return to.verdict({ verdict: statement.is });
    }
  }

  /** Makes sure that the packet has the field, as nft does: without it other bytes would stand in its place. */
  #require(field: Field): void {
    const { nfproto, l4proto } = fieldAccess[field].needs ?? {};
    if (nfproto !== undefined && this.#known.nfproto !== nfproto) this.#demand('nfproto', nfproto);
    if (l4proto !== undefined && this.#known.l4proto !== l4proto) this.#demand('l4proto', l4proto);
  }

  #demand(field: 'nfproto' | 'l4proto', value: FieldValue): void {
    if (this.#known[field] !== undefined)
      throw new RangeError(`${field} is ${this.#known[field]} and ${value} in one rule`);
    this.add({ is: 'match', field, value });
  }

  #note(field: Field, value: FieldValue): void {
    if (field === 'nfproto') this.#known.nfproto = value;
    if (field === 'l4proto') this.#known.l4proto = fieldAccess.l4proto.encode(value)[0]!;
  }

  #match({ field, op = '==', value, mask }: Extract<Statement, { is: 'match' }>): void {
    this.#require(field);
    const access = fieldAccess[field];
    const prefix = prefixOf(field, value);
    if (mask !== undefined) {
      if (field !== 'mark' && field !== 'ct mark') throw new RangeError(`a mask of ${field}`);
      access.load(this.#to);
      this.#to.mask(word(mask), NO_BITS);
      this.#to.compare(op, access.encode(value));
    } else if (prefix !== undefined) {
      this.#matchPrefix(field, op, prefix);
    } else {
      access.load(this.#to);
      this.#to.compare(op, access.encode(value));
      if (op === '==') this.#note(field, value);
    }
  }

  /** Whole bytes are compared as they are; a name by the bytes before its `*`. */
  #matchPrefix(field: Field, op: '==' | '!=', { bytes, bits }: FieldPrefix): void {
    const access = fieldAccess[field];
    const whole = bits > 0 && bits % 8 === 0;
    if (whole) {
      if (access.loadFirst === undefined) access.load(this.#to);
      else access.loadFirst(this.#to, bits / 8);
      return this.#to.compare(op, bytes.subarray(0, bits / 8));
    }
    access.load(this.#to);
    this.#to.mask(maskOf(bits, bytes.length), Buffer.alloc(bytes.length));
    this.#to.compare(op, bytes);
  }

  #range({ field, op = '==', first, last }: Extract<Statement, { is: 'range' }>): void {
    const access = fieldAccess[field];
    if (access.ordered !== true) throw new RangeError(`a range of ${field}`);
    if (first > last) throw new RangeError(`a range from ${first} to ${last}`);
    this.#require(field);
    access.load(this.#to);
    const [from, to] = [access.encode(first), access.encode(last)];
    if (op === '!=') return this.#to.outside(from, to);
    this.#to.compare('>=', from);
    this.#to.compare('<=', to);
  }

  #anyBit(key: number, bits: number): void {
    this.#to.loadCt(key);
    this.#to.mask(word(bits), NO_BITS);
    this.#to.compare('!=', NO_BITS);
  }

  /** One after the other, each in registers of its own, as the keys of sets are laid out. */
  #load(fields: readonly Field[]): void {
    if (fields.length === 0) throw new RangeError('a lookup without fields');
    for (const field of fields) this.#require(field);
    let register = FIRST_REGISTER;
    for (const field of fields) {
      const { length, load } = fieldAccess[field];
      load(this.#to, register);
      register += Math.ceil(length / 4);
    }
  }

  #setMark({ target, value, mask = ALL_BITS }: Extract<Statement, { is: 'set-mark' }>): void {
    const to = this.#to;
    if (mask === ALL_BITS) {
      to.loadValue(word(value));
    } else {
      fieldAccess[target].load(to);
      to.mask(word(~mask), word(value & mask));
    }
    if (target === 'mark') to.setMeta(metaKeys.mark);
    else to.setCt(ctKeys.mark);
  }
}

interface FieldPrefix {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

function prefixOf(field: Field, value: FieldValue): FieldPrefix | undefined {
  if (typeof value !== 'string') return undefined;
  const { prefix, length } = fieldAccess[field];
  if (prefix === 'address' && value.includes('/')) {
    const { address, length: bits } = parsePrefix(value);
    const bytes = addressToBytes(address);
    if (bytes.length !== length) throw new RangeError(`no ${field}: ${value}`);
    return { bytes, bits };
  }
  if (prefix === 'name' && value.endsWith('*')) {
    const bytes = Buffer.from(value.slice(0, -1));
    if (bytes.length === 0 || bytes.length >= length) throw new RangeError(`no ${field}: ${value}`);
    return { bytes, bits: 8 * bytes.length };
  }
  return undefined;
}

function maskOf(bits: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, byte) => {
    const set = Math.min(8, Math.max(0, bits - 8 * byte));
    return (0xff << (8 - set)) & 0xff;
  });
}
