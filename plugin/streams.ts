/**
 * Bytes in and out and the environment: what both plugins need of the system. As streams.c. Standard input and output are used by
 * their descriptors: opening them as streams costs milliseconds of a plugin's start.
 */
const fs = process.getBuiltinModule('node:fs');

const NAMED_ERRORS = new Set(
  (
    'ENOENT ECONNREFUSED ECONNRESET EPIPE EACCES EPERM ENOTDIR ELOOP EPROTOTYPE ENOTSOCK EIO ENOMEM ' +
    'EISDIR EBADF EMFILE ENFILE'
  ).split(' '),
);

export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
export const nameError = (error: unknown): string =>
  NAMED_ERRORS.has(codeOf(error)) ? codeOf(error) : 'an unexpected error';

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

/**
 * The pairs of the environment that an agent is given; the rest of it may hold what is secret. As the kernel has them:
 * `process.env` would replace bytes that are not UTF-8.
 */
export function readEnvironment(): Buffer[] {
  const block = fs.readFileSync('/proc/self/environ');
  const pairs: Buffer[] = [];
  for (let at = 0, end; at < block.length; at = end + 1) {
    end = block.indexOf(0, at);
    if (end < 0) end = block.length;
    pairs.push(block.subarray(at, end));
  }
  return pairs.filter(isCarried);
}

const isCarried = (pair: Buffer): boolean =>
  /^(CNI_[^=]*|TRACEPARENT|TRACESTATE|BAGGAGE)=/.test(pair.toString('latin1'));
