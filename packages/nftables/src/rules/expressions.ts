/**
 * The instructions of nf_tables' virtual machine (include/uapi/linux/netfilter/nf_tables.h), as attributes of a rule. Numbers
 * of registers are those of 32 bits, NFT_REG32_*: the first is 8.
 */
import type { PayloadWriter } from '@podwire/netlink';
import type { Verdict } from '../element.js';
import { writeVerdict } from '../element-request.js';
import { dataAttribute, expressionAttribute, LIST_ITEM } from '../protocol.js';

export const FIRST_REGISTER = 8;
const VERDICT_REGISTER = 0;

export const metaKeys = { mark: 3, iifname: 6, oifname: 7, nfproto: 15, l4proto: 16 } as const;
export const ctKeys = { state: 0, status: 2, mark: 3 } as const;
export const payloadBases = { network: 1, transport: 2 } as const;
/** NFTA_FIB_F_* */
export const fibFlags = { source: 1, destination: 2 } as const;

const FIB_RESULT_ADDRESS_TYPE = 3;
const operators = { '==': 0, '!=': 1, '<=': 3, '>=': 5 } as const;
const SET_LOOKUP_INVERTED = 1;
const SECOND = 1n;

export type Operator = keyof typeof operators;

/** Appends instructions to a rule that is being written. */
export class ExpressionWriter {
  readonly #writer: PayloadWriter;

  constructor(writer: PayloadWriter) {
    this.#writer = writer;
  }

  #add(name: string, fill?: (writer: PayloadWriter) => void): void {
    this.#writer.nest(LIST_ITEM, (item) => {
      item.text(expressionAttribute.name, name);
      if (fill !== undefined) item.nest(expressionAttribute.data, fill);
    });
  }

  loadMeta(key: number, register = FIRST_REGISTER): void {
    this.#add('meta', (to) => to.be32(1, register).be32(2, key));
  }

  setMeta(key: number, register = FIRST_REGISTER): void {
    this.#add('meta', (to) => to.be32(2, key).be32(3, register));
  }

  loadCt(key: number, register = FIRST_REGISTER): void {
    this.#add('ct', (to) => to.be32(1, register).be32(2, key));
  }

  setCt(key: number, register = FIRST_REGISTER): void {
    this.#add('ct', (to) => to.be32(2, key).be32(4, register));
  }

  loadPayload(base: number, offset: number, length: number, register = FIRST_REGISTER): void {
    this.#add('payload', (to) => to.be32(1, register).be32(2, base).be32(3, offset).be32(4, length));
  }

  loadFib(flags: number, register = FIRST_REGISTER): void {
    this.#add('fib', (to) => to.be32(1, register).be32(2, FIB_RESULT_ADDRESS_TYPE).be32(3, flags));
  }

  loadValue(value: Uint8Array): void {
    this.#add('immediate', (to) => writeData(to.be32(1, FIRST_REGISTER), 2, value));
  }

  compare(operator: Operator, value: Uint8Array): void {
    this.#add('cmp', (to) => writeData(to.be32(1, FIRST_REGISTER).be32(2, operators[operator]), 3, value));
  }

  /** Nothing between these two, ends included. */
  outside(first: Uint8Array, last: Uint8Array): void {
    this.#add('range', (to) => {
      writeData(to.be32(1, FIRST_REGISTER).be32(2, 1), 3, first);
      writeData(to, 4, last);
    });
  }

  /** `(register & mask) ^ bits` */
  mask(mask: Uint8Array, bits: Uint8Array): void {
    this.#add('bitwise', (to) => {
      to.be32(1, FIRST_REGISTER).be32(2, FIRST_REGISTER).be32(3, mask.length);
      writeData(to, 4, mask);
      writeData(to, 5, bits);
    });
  }

  lookUp(set: string, negate = false): void {
    this.#add('lookup', (to) => {
      to.text(1, set).be32(2, FIRST_REGISTER);
      if (negate) to.be32(5, SET_LOOKUP_INVERTED);
    });
  }

  mapToVerdict(map: string): void {
    this.#add('lookup', (to) => to.text(1, map).be32(2, FIRST_REGISTER).be32(3, VERDICT_REGISTER));
  }

  counter(): void {
    this.#add('counter', () => undefined);
  }

  log(group: number, prefix: string, snaplen: number | undefined): void {
    this.#add('log', (to) => {
      to.be16(1, group).text(2, prefix);
      if (snaplen !== undefined) to.be32(3, snaplen);
    });
  }

  limit(perSecond: number, burst: number): void {
    this.#add('limit', (to) => {
      writeBe64(to, 1, BigInt(perSecond));
      writeBe64(to, 2, SECOND);
      to.be32(3, burst);
    });
  }

  notrack(): void {
    this.#add('notrack');
  }

  verdict(verdict: Verdict): void {
    this.#add('immediate', (to) => {
      to.be32(1, VERDICT_REGISTER).nest(2, () => writeVerdict(to, verdict));
    });
  }
}

function writeData(writer: PayloadWriter, type: number, value: Uint8Array): void {
  writer.nest(type, () => writer.bytes(dataAttribute.value, value));
}

function writeBe64(writer: PayloadWriter, type: number, value: bigint): void {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  writer.bytes(type, bytes);
}
