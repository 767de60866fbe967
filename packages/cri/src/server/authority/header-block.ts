/** Reads just enough of HPACK (RFC 7541) to find `:authority` in a header block. */
import { decodeHuffman } from './huffman.js';

/** Index of `:authority` in the static table. */
const authorityIndex = 1;

/** The characters that nghttp2 takes in an authority. */
const forbidden = /[^A-Za-z0-9!$%&'()*+,\-.:;=@[\]_~]/g;

/**
 * Exchanges the characters of `:authority` that make nghttp2, and so Node, reset a request. The text keeps its length, since both
 * ends count the lengths of the entries in their tables.
 * @returns the block as it was where nothing is to be changed, or where it cannot be read
 */
export function repairAuthority(block: Buffer): Buffer {
  for (let at = 0; at < block.length;) {
    const field = readField(block, at);
    if (field === undefined) return block;
    if (field.nameIndex !== authorityIndex || field.value === undefined) {
      at = field.end;
      continue;
    }
    const { huffman, start, end } = field.value;
    const raw = block.subarray(start, end);
    const text = huffman ? decodeHuffman(raw) : raw.toString('latin1');
    const repaired = text?.replace(forbidden, '-');
    if (repaired === undefined || repaired === text) return block;
    const value = Buffer.concat([encodeInteger(repaired.length, 7), Buffer.from(repaired, 'latin1')]);
    return Buffer.concat([block.subarray(0, field.valueAt), value, block.subarray(end)]);
  }
  return block;
}

interface StringSpan {
  readonly huffman: boolean;
  readonly start: number;
  readonly end: number;
}

interface Field {
  /** 0 where the name is written out. */
  readonly nameIndex: number;
  readonly valueAt: number;
  /** Absent where the whole field is an index, or there is no field but a change of the table's size. */
  readonly value?: StringSpan;
  readonly end: number;
}

function readField(block: Buffer, at: number): Field | undefined {
  const first = block[at]!;
  if ((first & 0x80) !== 0) return readIndexed(block, at, 7);
  if ((first & 0xe0) === 0x20) return readIndexed(block, at, 5);
  const name = readInteger(block, at, (first & 0x40) !== 0 ? 6 : 4);
  if (name === undefined) return undefined;
  const written = name.value === 0 ? readString(block, name.next) : undefined;
  if (name.value === 0 && written === undefined) return undefined;
  const valueAt = written?.end ?? name.next;
  const value = readString(block, valueAt);
  return value && { nameIndex: name.value, valueAt, value, end: value.end };
}

function readIndexed(block: Buffer, at: number, bits: number): Field | undefined {
  const index = readInteger(block, at, bits);
  return index && { nameIndex: 0, valueAt: index.next, end: index.next };
}

function readString(block: Buffer, at: number): StringSpan | undefined {
  const length = readInteger(block, at, 7);
  if (length === undefined) return undefined;
  const end = length.next + length.value;
  if (end > block.length) return undefined;
  return { huffman: (block[at]! & 0x80) !== 0, start: length.next, end };
}

/** An integer with a prefix of `bits` (§5.1). */
function readInteger(block: Buffer, at: number, bits: number): { value: number; next: number } | undefined {
  const first = block[at];
  if (first === undefined) return undefined;
  const full = (1 << bits) - 1;
  let value = first & full;
  if (value < full) return { value, next: at + 1 };
  for (let next = at + 1, shift = 0; shift <= 21; next += 1, shift += 7) {
    const byte = block[next];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) << shift;
    if ((byte & 0x80) === 0) return { value, next: next + 1 };
  }
  return undefined;
}

function encodeInteger(value: number, bits: number): Buffer {
  const full = (1 << bits) - 1;
  if (value < full) return Buffer.from([value]);
  const bytes = [full];
  let rest = value - full;
  for (; rest >= 0x80; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
