import type { LogEntry, LogStream } from './format.js';

/**
 * Turns entries back into what the program wrote, with the time before each line where that is wanted.
 * @returns what gives the bytes of the next entry; parts of a line are put together again
 */
export function createLogPrinter(
  options: { readonly timestamps?: boolean } = {},
): (entry: LogEntry) => Buffer {
  const within = new Set<LogStream>();
  return ({ timestamp, stream, partial, content }) => {
    const head = options.timestamps === true && !within.has(stream) ? `${timestamp} ` : '';
    if (partial) within.add(stream);
    else within.delete(stream);
    return Buffer.concat([Buffer.from(head), content, Buffer.from(partial ? '' : '\n')]);
  };
}
