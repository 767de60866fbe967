/** Frames of the control socket: a type, a length of four bytes (big-endian), the bytes (native/control.c). */

/** The most bytes that a frame to podwire-hold may have. */
export const maxFrameBytes = 4096;

export interface Frame {
  /** One ASCII character. */
  readonly type: string;
  readonly bytes: Buffer;
}

export function encodeFrame(type: string, bytes: Uint8Array = Buffer.alloc(0)): Buffer {
  const frame = Buffer.alloc(5 + bytes.length);
  frame.write(type, 0, 1, 'latin1');
  frame.writeUInt32BE(bytes.length, 1);
  frame.set(bytes, 5);
  return frame;
}

/** Rows and columns of a terminal. */
export function encodeSize({ width, height }: { readonly width: number; readonly height: number }): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16BE(Math.min(height, 0xffff), 0);
  bytes.writeUInt16BE(Math.min(width, 0xffff), 2);
  return bytes;
}

/** Takes bytes as they come and calls `take` for every whole frame. */
export function createFrameReader(take: (frame: Frame) => void): (bytes: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);
  return (bytes) => {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
    for (;;) {
      if (pending.length < 5) return;
      const end = 5 + pending.readUInt32BE(1);
      if (pending.length < end) return;
      take({ type: pending.toString('latin1', 0, 1), bytes: pending.subarray(5, end) });
      pending = pending.subarray(end);
    }
  };
}
