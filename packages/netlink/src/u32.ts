import { DecodeError } from './errors.js';

/** One comparison of a u32 filter: four bytes of the packet at `offset` (from the network header), masked. */
export interface U32Key {
  readonly value: number;
  readonly mask: number;
  readonly offset: number;
}

/** struct tc_u32_sel: flags, shift, number of keys (u8 each), … */
const TC_U32_SEL = 16;
/** struct tc_u32_key: mask, value (big-endian), offset, offset mask (i32). */
const TC_U32_KEY = 16;
const TC_U32_TERMINAL = 1;

export function encodeSelector(keys: readonly U32Key[]): Buffer {
  const bytes = Buffer.alloc(TC_U32_SEL + TC_U32_KEY * keys.length);
  bytes[0] = TC_U32_TERMINAL;
  bytes.writeUInt8(keys.length, 2);
  for (const [index, { value, mask, offset }] of keys.entries()) {
    const at = TC_U32_SEL + TC_U32_KEY * index;
    bytes.writeUInt32BE(mask, at);
    bytes.writeUInt32BE(value, at + 4);
    bytes.writeInt32LE(offset, at + 8);
  }
  return bytes;
}

/** @throws DecodeError */
export function readSelector(bytes: Buffer): U32Key[] {
  const count = bytes[2] ?? 0;
  if (bytes.length < TC_U32_SEL + TC_U32_KEY * count) {
    throw new DecodeError(`a u32 selector of ${bytes.length} bytes for ${count} keys`);
  }
  return Array.from({ length: count }, (_, index) => {
    const at = TC_U32_SEL + TC_U32_KEY * index;
    return {
      mask: bytes.readUInt32BE(at),
      value: bytes.readUInt32BE(at + 4),
      offset: bytes.readInt32LE(at + 8),
    };
  });
}
