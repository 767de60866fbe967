/** Big-endian reading and writing with bounds. */
import { DecodeError } from '../errors.js';

/** The longest OpenFlow message: its length field has 16 bits. */
export const LONGEST_MESSAGE = 0xffff;

/** A buffer that grows as it is written. */
export class Writer {
  #buffer: Buffer;
  #length = 0;

  constructor(capacity = 256) {
    this.#buffer = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.#length;
  }

  #claim(size: number): number {
    const at = this.#length;
    this.#length += size;
    if (this.#length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(2 * this.#length);
      this.#buffer.copy(larger, 0, 0, at);
      this.#buffer = larger;
    }
    return at;
  }

  u8(value: number): this {
    const at = this.#claim(1);
    this.#buffer.writeUInt8(value, at);
    return this;
  }

  u16(value: number): this {
    const at = this.#claim(2);
    this.#buffer.writeUInt16BE(value, at);
    return this;
  }

  u32(value: number): this {
    const at = this.#claim(4);
    this.#buffer.writeUInt32BE(value, at);
    return this;
  }

  u64(value: bigint): this {
    const at = this.#claim(8);
    this.#buffer.writeBigUInt64BE(value, at);
    return this;
  }

  /** An unsigned number of `size` bytes. */
  big(value: bigint, size: number): this {
    if (size <= 6) {
      const at = this.#claim(size);
      this.#buffer.writeUIntBE(Number(value), at, size);
    } else if (size === 8) this.u64(value);
    else this.big(value >> 64n, size - 8).u64(value & 0xffff_ffff_ffff_ffffn);
    return this;
  }

  bytes(value: Uint8Array): this {
    const at = this.#claim(value.length);
    this.#buffer.set(value, at);
    return this;
  }

  zeros(count: number): this {
    const at = this.#claim(count);
    this.#buffer.fill(0, at, at + count);
    return this;
  }

  /** Zeros, until what began at `start` has a multiple of eight bytes. */
  padFrom(start: number): this {
    return this.zeros((8 - ((this.#length - start) % 8)) % 8);
  }

  /** Writes the length since `start` into 16 bits: at `start + 2`, where most structures have it, or elsewhere. */
  lengthSince(start: number, at = start + 2): this {
    this.#buffer.writeUInt16BE(this.#length - start, at);
    return this;
  }

  /** The bytes so far; a view that the next write may change. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}

/** Reads a part of a buffer, never beyond its end. */
export class Reader {
  readonly #buffer: Buffer;
  readonly #end: number;
  #at: number;

  constructor(buffer: Uint8Array, start = 0, end = buffer.length) {
    this.#buffer = Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    this.#at = start;
    this.#end = end;
  }

  get remaining(): number {
    return this.#end - this.#at;
  }

  #take(size: number): number {
    const at = this.#at;
    if (size < 0 || at + size > this.#end) throw new DecodeError(`${size} bytes are missing at byte ${at}`);
    this.#at += size;
    return at;
  }

  u8(): number {
    return this.#buffer.readUInt8(this.#take(1));
  }

  u16(): number {
    return this.#buffer.readUInt16BE(this.#take(2));
  }

  u32(): number {
    return this.#buffer.readUInt32BE(this.#take(4));
  }

  u64(): bigint {
    return this.#buffer.readBigUInt64BE(this.#take(8));
  }

  big(size: number): bigint {
    const at = this.#take(size);
    if (size <= 6) return BigInt(this.#buffer.readUIntBE(at, size));
    let value = 0n;
    for (let byte = at; byte < at + size; byte++) value = (value << 8n) | BigInt(this.#buffer[byte]!);
    return value;
  }

  /** The next `size` bytes, copied. */
  bytes(size: number): Buffer {
    const at = this.#take(size);
    return Buffer.from(this.#buffer.subarray(at, at + size));
  }

  skip(size: number): this {
    this.#take(size);
    return this;
  }

  /** A reader of the next `size` bytes alone. */
  part(size: number): Reader {
    const at = this.#take(size);
    return new Reader(this.#buffer, at, at + size);
  }

  #ahead(offset: number, size: number): number {
    if (offset + size > this.remaining) throw new DecodeError(`a header is cut at byte ${this.#at}`);
    return this.#at + offset;
  }

  /** The 16 bits at `offset` from here, without moving on. */
  peek16(offset: number): number {
    return this.#buffer.readUInt16BE(this.#ahead(offset, 2));
  }

  /** The 32 bits at `offset` from here, without moving on. */
  peek32(offset: number): number {
    return this.#buffer.readUInt32BE(this.#ahead(offset, 4));
  }
}
