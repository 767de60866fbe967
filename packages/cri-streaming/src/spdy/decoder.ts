import { SpdyProtocolError } from './error.js';
import { decodeControl, frameHeaderLength, maxPayloadLength, type SpdyFrame, spdyVersion } from './frames.js';

export interface FrameLimits {
  /** bytes of a control frame's payload; 64 KiB when absent */
  readonly controlPayload?: number;
  /** bytes of a DATA frame; what 24 bits can say when absent, since the data is passed on as it comes and never gathered */
  readonly dataPayload?: number;
}

interface OpenData {
  readonly streamId: number;
  readonly fin: boolean;
  remaining: number;
}

/**
 * Cuts a byte stream into frames. A DATA frame comes out in pieces, as its bytes arrive, with `fin` on the last one: a frame of
 * 16 MiB needs no more memory than one of a kilobyte.
 * @returns what takes the next bytes. It throws SpdyProtocolError, and must not be used after that.
 */
export function createFrameDecoder(limits: FrameLimits = {}): (chunk: Buffer) => SpdyFrame[] {
  const { controlPayload = 65_536, dataPayload = maxPayloadLength } = limits;
  let rest: Buffer = Buffer.alloc(0);
  let open: OpenData | undefined;

  const take = (bytes: Buffer, frames: SpdyFrame[]): Buffer | undefined => {
    if (open !== undefined) {
      const data = bytes.subarray(0, open.remaining);
      if (data.length === 0 && open.remaining > 0) return undefined;
      open.remaining -= data.length;
      frames.push({ type: 'data', streamId: open.streamId, fin: open.fin && open.remaining === 0, data });
      if (open.remaining === 0) open = undefined;
      return bytes.subarray(data.length);
    }
    if (bytes.length < frameHeaderLength) return undefined;
    const length = bytes.readUIntBE(5, 3);
    if ((bytes[0]! & 0x80) === 0) {
      open = openData(bytes, length, dataPayload);
      return bytes.subarray(frameHeaderLength);
    }
    checkControl(bytes, length, controlPayload);
    const end = frameHeaderLength + length;
    if (bytes.length < end) return undefined;
    frames.push(decodeControl(bytes.readUInt16BE(2), bytes[4]!, bytes.subarray(frameHeaderLength, end)));
    return bytes.subarray(end);
  };

  return (chunk) => {
    const frames: SpdyFrame[] = [];
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let next = take(rest, frames); next !== undefined; next = take(rest, frames)) rest = next;
    return frames;
  };
}

function openData(bytes: Buffer, length: number, limit: number): OpenData {
  const streamId = bytes.readUInt32BE(0);
  if (streamId === 0) throw new SpdyProtocolError('DATA on stream 0');
  if (length > limit) throw new SpdyProtocolError(`DATA of ${length} bytes, more than ${limit}`);
  return { streamId, fin: (bytes[4]! & 0x01) !== 0, remaining: length };
}

function checkControl(bytes: Buffer, length: number, limit: number): void {
  const version = bytes.readUInt16BE(0) & 0x7fff;
  if (version !== spdyVersion) throw new SpdyProtocolError(`frame of version ${version}`);
  if (length > limit) throw new SpdyProtocolError(`control frame of ${length} bytes, more than ${limit}`);
}
