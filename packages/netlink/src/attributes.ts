import { DecodeError } from './errors.js';
import { align } from './protocol.js';

/** One attribute of a message (struct nlattr): `type` without the NLA_F_* bits. */
export interface Attribute {
  readonly type: number;
  readonly nested: boolean;
  readonly value: Buffer;
}

const HEADER = 4;
const NLA_F_NESTED = 0x8000;
const NLA_TYPE_MASK = 0x3fff;

/**
 * Walks the attributes in `bytes` from `offset`. Trailing bytes too few for a header are padding.
 * @throws DecodeError for an attribute that is shorter than its header or longer than what is left.
 */
export function* eachAttribute(bytes: Buffer, offset = 0): Generator<Attribute> {
  let at = offset;
  while (at + HEADER <= bytes.length) {
    const length = bytes.readUInt16LE(at);
    const type = bytes.readUInt16LE(at + 2);
    if (length < HEADER || at + length > bytes.length) {
      throw new DecodeError(
        `attribute ${type & NLA_TYPE_MASK} at ${at}: ${length} of ${bytes.length - at} bytes`,
      );
    }
    yield {
      type: type & NLA_TYPE_MASK,
      nested: (type & NLA_F_NESTED) !== 0,
      value: bytes.subarray(at + HEADER, at + length),
    };
    at += align(length);
  }
}
