/** Messages in a stream of bytes. A message has at most 65,535 bytes, so no more than that is kept. */
import { HEADER_LENGTH } from '../codec/message.js';
import { DecodeError } from '../errors.js';

export class Framing {
  #rest: Buffer = Buffer.alloc(0);

  /** The messages that are complete with these bytes. @throws DecodeError for a length that none has */
  push(chunk: Buffer): Buffer[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const messages: Buffer[] = [];
    let at = 0;
    while (bytes.length - at >= HEADER_LENGTH) {
      const length = bytes.readUInt16BE(at + 2);
      if (length < HEADER_LENGTH) throw new DecodeError(`a message of ${length} bytes`);
      if (bytes.length - at < length) break;
      messages.push(bytes.subarray(at, at + length));
      at += length;
    }
    this.#rest = bytes.subarray(at);
    return messages;
  }
}
