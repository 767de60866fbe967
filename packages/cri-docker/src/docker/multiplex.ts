/**
 * Streams of a process without a terminal, in one (Docker API, "Attach to a container"): frames with a header of 8 bytes, the
 * first of which says which stream, the last four how long the frame is (big endian).
 */

export type FrameStream = 'stdin' | 'stdout' | 'stderr' | 'systemerr';

export interface Frame {
  readonly stream: FrameStream;
  readonly payload: Buffer;
}

const streams: readonly FrameStream[] = ['stdin', 'stdout', 'stderr', 'systemerr'];
const headerLength = 8;
/** bytes; Docker's frames have as much as it reads at once, 48 KiB in logs. What says more is no frame. */
const longestPayload = 16 << 20;

/**
 * Cuts bytes into frames, however they arrive. A frame is handed on when it is whole.
 * @throws Error for an unknown stream and for a length that no frame has
 */
export function createFrameReader(): (chunk: Buffer) => Frame[] {
  let pending: Buffer[] = [];
  let have = 0;
  let need = headerLength;
  return (chunk) => {
    pending.push(chunk);
    have += chunk.length;
    if (have < need) return [];
    const { frames, rest } = cutFrames(Buffer.concat(pending));
    pending = rest.length === 0 ? [] : [rest];
    have = rest.length;
    need = headerLength + (rest.length < headerLength ? 0 : payloadLengthOf(rest, 0));
    return frames;
  };
}

function cutFrames(data: Buffer): { frames: Frame[]; rest: Buffer } {
  const frames: Frame[] = [];
  let offset = 0;
  while (data.length - offset >= headerLength) {
    const end = offset + headerLength + payloadLengthOf(data, offset);
    if (end > data.length) break;
    frames.push({ stream: streamOf(data[offset]!), payload: data.subarray(offset + headerLength, end) });
    offset = end;
  }
  return { frames, rest: data.subarray(offset) };
}

function payloadLengthOf(data: Buffer, offset: number): number {
  const length = data.readUInt32BE(offset + 4);
  if (length > longestPayload) throw new Error(`Docker sent a frame of ${length} bytes`);
  return length;
}

function streamOf(number: number): FrameStream {
  const stream = streams[number];
  if (stream === undefined) throw new Error(`Docker sent a frame of the unknown stream ${number}`);
  return stream;
}

/** The other direction, for tests and fakes. */
export function writeFrame(stream: FrameStream, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(headerLength);
  header[0] = streams.indexOf(stream);
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}
