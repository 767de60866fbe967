/** JSON objects one behind the other on a stream, without anything between them (RFC 7047, section 4). */
import { ProtocolError } from '../errors.js';

export interface MessageLimits {
  /** Longest message, bytes. */
  readonly bytes: number;
  /** How deep objects and arrays may be nested. */
  readonly depth: number;
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = Buffer.from('"\\{}[]');
const whiteSpace: ReadonlySet<number> = new Set(Buffer.from(' \t\r\n'));

/** Cuts a stream into its messages. Bytes of a text are never taken for structure: in UTF-8 they are above 127. */
export class JsonStream {
  readonly #limits: MessageLimits;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** Beginning of a message that is not complete. */
  #parts: Uint8Array[] = [];
  #length = 0;
  #depth = 0;
  #isText = false;
  #isEscaped = false;

  constructor(limits: MessageLimits) {
    this.#limits = limits;
  }

  /** The messages that are complete now, in order. @throws ProtocolError: the stream cannot be read any further */
  *read(chunk: Uint8Array): Generator<unknown> {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (this.#isText) this.#skipText(byte);
      else if (this.#depth === 0) {
        start = at;
        if (byte === openBrace) this.#depth = 1;
        else if (whiteSpace.has(byte)) start = at + 1;
        else throw new ProtocolError('a message does not begin with {');
      } else if (this.#isLast(byte)) {
        this.#keep(chunk.subarray(start, at + 1));
        yield this.#finish();
        start = at + 1;
      }
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  #skipText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) this.#isText = false;
  }

  /** Follows the structure. @returns true at the end of the message */
  #isLast(byte: number): boolean {
    if (byte === quote) this.#isText = true;
    else if (byte === openBrace || byte === openBracket) {
      this.#depth += 1;
      if (this.#depth > this.#limits.depth)
        throw new ProtocolError(`a message is nested deeper than ${this.#limits.depth}`);
    } else if (byte === closeBrace || byte === closeBracket) this.#depth -= 1;
    return this.#depth === 0;
  }

  #keep(part: Uint8Array): void {
    this.#length += part.length;
    if (this.#length > this.#limits.bytes)
      throw new ProtocolError(`a message is longer than ${this.#limits.bytes} bytes`);
    this.#parts.push(part);
  }

  #finish(): unknown {
    const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    try {
      return JSON.parse(this.#decoder.decode(bytes));
    } catch (cause) {
      throw new ProtocolError('a message is not JSON', { cause });
    }
  }
}
