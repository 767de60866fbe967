/** Docker's answer to `logs`, cut into messages. */
import { createFrameReader } from '../../docker/index.js';
import { type LogMessage, parseMessage } from './format.js';

/** What each chunk completes, together. With a terminal there are no frames, and all is standard output. */
export async function* readMessages(
  source: AsyncIterable<Buffer>,
  tty: boolean,
): AsyncGenerator<LogMessage[]> {
  const { cut, rest } = tty ? createLineCutter() : createFrameCutter();
  for await (const chunk of source) yield cut(chunk);
  yield rest();
}

interface Cutter {
  readonly cut: (chunk: Buffer) => LogMessage[];
  /** What is left when the log is over. */
  readonly rest: () => LogMessage[];
}

function createFrameCutter(): Cutter {
  const read = createFrameReader();
  const cut = (chunk: Buffer): LogMessage[] =>
    read(chunk).flatMap(({ stream, payload }) => {
      if (stream === 'systemerr') throw new Error(`Docker cannot read the log: ${payload.toString('utf8')}`);
      return parseMessage(stream === 'stderr' ? 'stderr' : 'stdout', payload) ?? [];
    });
  // Half a frame is none.
  return { cut, rest: () => [] };
}

function createLineCutter(): Cutter {
  let pending = Buffer.alloc(0);
  const cut = (chunk: Buffer): LogMessage[] => {
    const data = Buffer.concat([pending, chunk]);
    const messages: LogMessage[] = [];
    let start = 0;
    for (let end = data.indexOf(0x0a); end >= 0; end = data.indexOf(0x0a, start)) {
      const message = parseMessage('stdout', data.subarray(start, end + 1));
      if (message !== undefined) messages.push(message);
      start = end + 1;
    }
    pending = data.subarray(start);
    return messages;
  };
  // A program need not end its last line.
  return { cut, rest: () => [parseMessage('stdout', pending) ?? []].flat() };
}
