import { align } from './protocol.js';

const HEADER = 4;
const NLA_F_NESTED = 0x8000;
const FIRST_SIZE = 256;

/**
 * Writes the payload of one request: a fixed structure, then attributes. Numbers are in host byte order, which is
 * little-endian on every machine that Node supports Linux on with this library; `be16` and `be32` are the exceptions
 * of the protocol.
 * Numbers that do not fit their field throw RangeError.
 */
export class PayloadWriter {
  #bytes: Buffer;
  #length: number;

  /** Starts with a zeroed structure of `header` bytes, to be filled through {@link structure}. */
  constructor(header: number) {
    this.#bytes = Buffer.allocUnsafe(FIRST_SIZE);
    this.#length = 0;
    this.structure(header);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** Appends a zeroed structure, padded to four bytes; valid until the next write. */
  structure(length: number): Buffer {
    const start = this.#reserve(align(length));
    return this.#bytes.fill(0, start, start + align(length)).subarray(start, start + length);
  }

  /** Bytes already written, to fill a structure afterwards; valid until the next write. */
  at(start: number, length: number): Buffer {
    return this.#bytes.subarray(start, start + length);
  }

  flag(type: number): this {
    this.#attribute(type, 0);
    return this;
  }

  u8(type: number, value: number): this {
    const at = this.#attribute(type, 1);
    this.#bytes.writeUInt8(value, at);
    return this;
  }

  u16(type: number, value: number): this {
    const at = this.#attribute(type, 2);
    this.#bytes.writeUInt16LE(value, at);
    return this;
  }

  u32(type: number, value: number): this {
    const at = this.#attribute(type, 4);
    this.#bytes.writeUInt32LE(value, at);
    return this;
  }

  i32(type: number, value: number): this {
    const at = this.#attribute(type, 4);
    this.#bytes.writeInt32LE(value, at);
    return this;
  }

  u64(type: number, value: number | bigint): this {
    const at = this.#attribute(type, 8);
    this.#bytes.writeBigUInt64LE(BigInt(value), at);
    return this;
  }

  be16(type: number, value: number): this {
    const at = this.#attribute(type, 2);
    this.#bytes.writeUInt16BE(value, at);
    return this;
  }

  be32(type: number, value: number): this {
    const at = this.#attribute(type, 4);
    this.#bytes.writeUInt32BE(value, at);
    return this;
  }

  bytes(type: number, value: Uint8Array): this {
    const at = this.#attribute(type, value.length);
    this.#bytes.set(value, at);
    return this;
  }

  /** A string with its closing NUL. @throws RangeError when it contains one: the kernel would cut it there. */
  text(type: number, value: string): this {
    if (value.includes('\0')) throw new RangeError(`a NUL in ${JSON.stringify(value)}`);
    const at = this.#attribute(type, Buffer.byteLength(value) + 1);
    this.#bytes.write(value, at);
    return this;
  }

  /** An attribute of attributes. The kernel's strict parsers want NLA_F_NESTED, the older ones ignore it. */
  nest(type: number, fill: (inside: this) => void): this {
    const start = this.#reserve(HEADER);
    fill(this);
    const length = this.#length - start;
    if (length > 0xffff) throw new RangeError(`attribute ${type} of ${length} bytes`);
    this.#bytes.writeUInt16LE(length, start);
    this.#bytes.writeUInt16LE(type | NLA_F_NESTED, start + 2);
    return this;
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Writes an attribute's header and padding; returns where its value goes. */
  #attribute(type: number, length: number): number {
    if (HEADER + length > 0xffff) throw new RangeError(`attribute ${type} of ${length} bytes`);
    const start = this.#reserve(align(HEADER + length));
    this.#bytes.fill(0, start + HEADER, this.#length);
    this.#bytes.writeUInt16LE(HEADER + length, start);
    this.#bytes.writeUInt16LE(type, start + 2);
    return start + HEADER;
  }

  #reserve(length: number): number {
    const start = this.#length;
    this.#length += length;
    if (this.#length > this.#bytes.length) this.#grow();
    return start;
  }

  #grow(): void {
    const larger = Buffer.allocUnsafe(2 * this.#length);
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}
