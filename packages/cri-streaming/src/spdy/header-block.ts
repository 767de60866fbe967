import { SpdyProtocolError } from './error.js';

/** Names are lower case. A name with several values has them joined by a NUL. */
export type SpdyHeaders = ReadonlyMap<string, string>;

/** The uncompressed name/value block (§2.6.10): a count, then name and value, each with a 32-bit length before it. */
export function encodeHeaderBlock(headers: SpdyHeaders): Buffer {
  const parts = [lengthOf(headers.size)];
  for (const [name, value] of headers) {
    for (const text of [name.toLowerCase(), value]) {
      const bytes = Buffer.from(text, 'utf8');
      parts.push(lengthOf(bytes.length), bytes);
    }
  }
  return Buffer.concat(parts);
}

/** @throws SpdyProtocolError on lengths that do not fit, an empty, repeated or capital name, or bytes that are left over */
export function decodeHeaderBlock(block: Buffer): SpdyHeaders {
  const headers = new Map<string, string>();
  let at = 0;
  const number = (): number => {
    if (at + 4 > block.length) throw new SpdyProtocolError('a header block ends too early');
    at += 4;
    return block.readUInt32BE(at - 4);
  };
  const text = (): string => {
    const length = number();
    if (length > block.length - at) throw new SpdyProtocolError('a header block ends too early');
    at += length;
    return block.toString('utf8', at - length, at);
  };
  for (let count = number(); count > 0; count -= 1) {
    const name = text();
    if (name === '' || name !== name.toLowerCase())
      throw new SpdyProtocolError('a header name is not lower case');
    if (headers.has(name)) throw new SpdyProtocolError('a header stands twice in a block');
    headers.set(name, text());
  }
  if (at !== block.length) throw new SpdyProtocolError('a header block has bytes left over');
  return headers;
}

function lengthOf(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(value);
  return buffer;
}
