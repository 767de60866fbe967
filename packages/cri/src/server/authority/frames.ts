import { repairAuthority } from './header-block.js';

const prefaceLength = 24; // "PRI * HTTP/2.0…" (RFC 9113 §3.4)
const headLength = 9;
const headersType = 1;
const flags = { endHeaders: 0x04, padded: 0x08, priority: 0x20 } as const;
/** Larger header blocks are none of a CRI client. */
const maxFrame = 16_384;

/**
 * Looks through what a client sends for HEADERS frames, and repairs their `:authority`. Everything else passes as it comes.
 * @returns what takes the next bytes and gives what is to be passed on
 */
export function createAuthorityRepair(): (chunk: Buffer) => Buffer[] {
  let rest: Buffer = Buffer.alloc(0);
  let pass = prefaceLength;

  const take = (bytes: Buffer, out: Buffer[]): Buffer | undefined => {
    if (bytes.length === 0) return undefined;
    if (pass > 0) {
      const piece = bytes.subarray(0, pass);
      pass -= piece.length;
      out.push(piece);
      return bytes.subarray(piece.length);
    }
    if (bytes.length < headLength) return undefined;
    const length = bytes.readUIntBE(0, 3);
    const end = headLength + length;
    const whole = bytes[3] === headersType && (bytes[4]! & flags.endHeaders) !== 0 && length <= maxFrame;
    if (!whole) {
      pass = end;
      return bytes;
    }
    if (bytes.length < end) return undefined;
    out.push(repairFrame(bytes.subarray(0, end)));
    return bytes.subarray(end);
  };

  return (chunk) => {
    const out: Buffer[] = [];
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let next = take(rest, out); next !== undefined; next = take(rest, out)) rest = next;
    return out;
  };
}

function repairFrame(frame: Buffer): Buffer {
  const flagsOfFrame = frame[4]!;
  const padded = (flagsOfFrame & flags.padded) !== 0;
  const start = headLength + (padded ? 1 : 0) + ((flagsOfFrame & flags.priority) !== 0 ? 5 : 0);
  const end = frame.length - (padded ? (frame[headLength] ?? 0) : 0);
  if (start > end) return frame;
  const block = frame.subarray(start, end);
  const repaired = repairAuthority(block);
  if (repaired === block) return frame;
  const result = Buffer.concat([frame.subarray(0, start), repaired, frame.subarray(end)]);
  result.writeUIntBE(result.length - headLength, 0, 3);
  return result;
}
