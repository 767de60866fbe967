/** Standard input and output by their descriptors: opening them as streams costs milliseconds of a plugin's start. */
const fs = process.getBuiltinModule('node:fs');

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
const pause = new Int32Array(new SharedArrayBuffer(4));

/** Repeats a call on a descriptor that the caller made non-blocking. */
function untilReady<T>(call: () => T): T {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN' && codeOf(error) !== 'EINTR') throw error;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
}

export function writeAll(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += untilReady(() => fs.writeSync(fd, bytes, at));
}

/** For messages whose reader may be gone; there is no other channel. */
export function tryWrite(fd: number, bytes: Buffer): void {
  try {
    writeAll(fd, bytes);
  } catch {
    process.exitCode = 1;
  }
}

/** Reads standard input to its end, or so many bytes of it. */
export function readInput(limit: number): Buffer {
  const input = Buffer.alloc(limit);
  let length = 0;
  while (length < input.length) {
    const count = untilReady(() => fs.readSync(0, input, length, input.length - length, null));
    if (count === 0) break;
    length += count;
  }
  return input.subarray(0, length);
}
