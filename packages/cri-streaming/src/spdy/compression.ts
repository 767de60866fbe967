/**
 * Header compression: one zlib stream per direction and connection, flushed after each block (§2.6.10.1). Node has no
 * synchronous zlib stream, and frames must not wait for one another's header. But a block that ends in a sync flush ends on a
 * byte, and what follows refers to nothing but the last 32 KiB of plain text: so every block is (de)compressed on its own with
 * that text as its dictionary, which gives the same bytes for the peer and keeps the only state a plain buffer.
 */
import zlib from 'node:zlib';
import { headerDictionary, headerDictionaryId } from './dictionary.js';
import { SpdyProtocolError } from './error.js';

const windowLength = 32_768;
/** zlib's header: deflate with a 32 KiB window, default level, a dictionary follows (RFC 1950 §2.2). */
const zlibHeader = Buffer.from([0x78, 0xbb, 0, 0, 0, 0]);
zlibHeader.writeUInt32BE(headerDictionaryId, 2);

/** @returns what compresses a connection's header blocks, in the order in which they are sent */
export function createHeaderCompressor(): (plain: Buffer) => Buffer {
  let history = headerDictionary;
  let first = true;
  return (plain) => {
    const packed = zlib.deflateRawSync(plain, {
      dictionary: history,
      finishFlush: zlib.constants.Z_SYNC_FLUSH,
    });
    history = slide(history, plain);
    const prefix = first ? [zlibHeader] : [];
    first = false;
    return Buffer.concat([...prefix, packed]);
  };
}

/**
 * @param maxLength bytes that a block may have when unpacked
 * @returns what unpacks header blocks in the order in which they came. It throws SpdyProtocolError, and must not be used after that.
 */
export function createHeaderDecompressor(maxLength = 65_536): (packed: Buffer) => Buffer {
  let history = headerDictionary;
  let first = true;
  return (packed) => {
    const body = first ? withoutZlibHeader(packed) : packed;
    first = false;
    const plain = inflate(body, history, maxLength);
    history = slide(history, plain);
    return plain;
  };
}

function inflate(body: Buffer, dictionary: Buffer, maxOutputLength: number): Buffer {
  try {
    return zlib.inflateRawSync(body, {
      dictionary,
      maxOutputLength,
      finishFlush: zlib.constants.Z_SYNC_FLUSH,
    });
  } catch (error) {
    throw new SpdyProtocolError(`a header block cannot be unpacked: ${(error as Error).message}`);
  }
}

function withoutZlibHeader(packed: Buffer): Buffer {
  const [method = 0, flags = 0] = packed;
  const good =
    packed.length >= 6 && (method & 0x0f) === 8 && (flags & 0x20) !== 0 && ((method << 8) | flags) % 31 === 0;
  if (!good) throw new SpdyProtocolError('the header compression does not start as zlib with a dictionary');
  if (packed.readUInt32BE(2) !== headerDictionaryId) throw new SpdyProtocolError('another header dictionary');
  return packed.subarray(6);
}

function slide(history: Buffer, plain: Buffer): Buffer {
  return Buffer.concat([history, plain]).subarray(-windowLength);
}
