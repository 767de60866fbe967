import { DecodeError } from './errors.js';
import { align } from './protocol.js';

const HEADER = 4;
/** The two top bits are NLA_F_NESTED and NLA_F_NET_BYTEORDER. */
const NLA_TYPE_MASK = 0x3fff;

/** One attribute of a message (struct nlattr), its type without the flags. `value` is a view. */
export interface Attribute {
  readonly type: number;
  readonly value: Buffer;
}

/**
 * Walks the attributes in `payload` from `offset` on. Trailing bytes too few for a header are padding.
 * @throws DecodeError for an attribute that is shorter than its header or longer than what is left.
 */
export function* eachAttribute(payload: Uint8Array, offset = 0): Generator<Attribute> {
  const bytes = asBuffer(payload);
  for (let at = offset; at + HEADER <= bytes.length;) {
    const length = attributeLength(bytes, at);
    const type = bytes.readUInt16LE(at + 2) & NLA_TYPE_MASK;
    yield { type, value: bytes.subarray(at + HEADER, at + length) };
    at += align(length);
  }
}

/** The same memory. */
function asBuffer(bytes: Uint8Array): Buffer {
  if (Buffer.isBuffer(bytes)) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function attributeLength(bytes: Buffer, at: number): number {
  const length = bytes.readUInt16LE(at);
  if (length < HEADER || at + length > bytes.length) {
    throw new DecodeError(`an attribute of ${length} bytes at ${at} of ${bytes.length}`);
  }
  return length;
}

/**
 * The attributes of a message or of a nest by type; of doubles the last counts, as in the kernel's nla_parse.
 * An accessor gives `undefined` for an attribute that is absent and throws DecodeError for one that is too short.
 */
export class Attributes {
  readonly #bytes: Buffer;
  /** Types and offsets, side by side: for the few dozen that there are, searching beats a Map. */
  readonly #types: number[] = [];
  readonly #offsets: number[] = [];

  /** @throws DecodeError, see {@link eachAttribute}. */
  constructor(payload: Uint8Array, offset = 0) {
    const bytes = asBuffer(payload);
    this.#bytes = bytes;
    for (let at = offset; at + HEADER <= bytes.length;) {
      const length = attributeLength(bytes, at);
      this.#types.push(bytes.readUInt16LE(at + 2) & NLA_TYPE_MASK);
      this.#offsets.push(at);
      at += align(length);
    }
  }

  has(type: number): boolean {
    return this.#types.includes(type);
  }

  bytes(type: number): Buffer | undefined {
    const at = this.#find(type);
    if (at === undefined) return undefined;
    return this.#bytes.subarray(at + HEADER, at + this.#bytes.readUInt16LE(at));
  }

  u8(type: number): number | undefined {
    const at = this.#value(type, 1);
    return at === undefined ? undefined : this.#bytes.readUInt8(at);
  }

  u16(type: number): number | undefined {
    const at = this.#value(type, 2);
    return at === undefined ? undefined : this.#bytes.readUInt16LE(at);
  }

  u32(type: number): number | undefined {
    const at = this.#value(type, 4);
    return at === undefined ? undefined : this.#bytes.readUInt32LE(at);
  }

  i32(type: number): number | undefined {
    const at = this.#value(type, 4);
    return at === undefined ? undefined : this.#bytes.readInt32LE(at);
  }

  u64(type: number): bigint | undefined {
    const at = this.#value(type, 8);
    return at === undefined ? undefined : this.#bytes.readBigUInt64LE(at);
  }

  be16(type: number): number | undefined {
    const at = this.#value(type, 2);
    return at === undefined ? undefined : this.#bytes.readUInt16BE(at);
  }

  be32(type: number): number | undefined {
    const at = this.#value(type, 4);
    return at === undefined ? undefined : this.#bytes.readUInt32BE(at);
  }

  /** Text up to its NUL. */
  text(type: number): string | undefined {
    const bytes = this.bytes(type);
    return bytes === undefined ? undefined : cText(bytes);
  }

  /** The attributes inside an attribute, after a structure of `header` bytes if it starts with one. */
  nested(type: number, header = 0): Attributes | undefined {
    const bytes = this.bytes(type);
    return bytes === undefined ? undefined : new Attributes(bytes, header);
  }

  #find(type: number): number | undefined {
    return this.#offsets[this.#types.lastIndexOf(type)];
  }

  #value(type: number, length: number): number | undefined {
    const at = this.#find(type);
    if (at === undefined) return undefined;
    const actual = this.#bytes.readUInt16LE(at) - HEADER;
    if (actual < length) throw new DecodeError(`attribute ${type} has ${actual} of ${length} bytes`);
    return at + HEADER;
  }
}

/** A C string: the bytes up to the first NUL. */
export function cText(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}

/** The fixed structure at the start of a message. @throws DecodeError when the message is shorter. */
export function readStructure(payload: Uint8Array, length: number, name: string): Buffer {
  if (payload.length < length) throw new DecodeError(`${name}: ${payload.length} of ${length} bytes`);
  return asBuffer(payload);
}
