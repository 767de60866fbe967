import { Writable } from 'node:stream';
import { formatLogEntry, formatTimestamp, type LogStream } from './format.js';

export interface LogWriterOptions {
  /** Takes whole lines of the file, in order; `done` when it can take more. */
  readonly append: (lines: Buffer, done: (error?: Error | null) => void) => void;
  /** nanoseconds since 1970 */
  readonly now: () => bigint;
  /** bytes of a program's line after which it is cut into parts; 16 KiB when absent, as in containerd */
  readonly maxLine?: number;
}

/**
 * Turns what a program writes to one of its streams into lines of a log file. The two streams of a program have a writer each, and
 * share `append`. A last line without line break is written when the stream ends, as a part.
 */
export function createLogWriter(stream: LogStream, options: LogWriterOptions): Writable {
  const { append, now, maxLine = 16_384 } = options;
  let rest: Buffer = Buffer.alloc(0);
  const entry = (content: Buffer, partial: boolean): Buffer =>
    formatLogEntry({ timestamp: formatTimestamp(now()), stream, partial, content });

  const take = (): Buffer[] => {
    const lines: Buffer[] = [];
    for (;;) {
      // Not further than a line may be long: a program without line breaks would have all of it looked through for each part.
      const end = rest.subarray(0, maxLine + 1).indexOf(0x0a);
      if (end >= 0) {
        lines.push(entry(rest.subarray(0, end), false));
        rest = rest.subarray(end + 1);
      } else if (rest.length > maxLine) {
        lines.push(entry(rest.subarray(0, maxLine), true));
        rest = rest.subarray(maxLine);
      } else return lines;
    }
  };
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const lines = take();
      // The remainder must not keep the whole chunk in memory.
      rest = Buffer.from(rest);
      if (lines.length === 0) done();
      else append(Buffer.concat(lines), done);
    },
    final: (done) => {
      if (rest.length === 0) done();
      else append(entry(rest, true), done);
    },
  });
}
