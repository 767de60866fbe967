/** Docker's answer to `logs`, cut into messages. */
import { createFrameReader } from '../../docker/index.js';
import { type LogMessage, parseMessage } from './format.js';

/** What each chunk completes, together. With a terminal there are no frames, and all is standard output. */
export async function* readMessages(
  source: AsyncIterable<Buffer>,
  tty: boolean,
): AsyncGenerator<LogMessage[]> {
  const cut = tty ? createLineCutter() : createFrameCutter();
  for await (const chunk of source) yield cut(chunk);
}

type Cutter = (chunk: Buffer) => LogMessage[];

function createFrameCutter(): Cutter {
  const read = createFrameReader();
  return (chunk) =>
    read(chunk).flatMap(({ stream, payload }) => {
      if (stream === 'systemerr') throw new Error(`Docker cannot read the log: ${payload.toString('utf8')}`);
      return parseMessage(stream === 'stderr' ? 'stderr' : 'stdout', payload) ?? [];
    });
}

function createLineCutter(): Cutter {
  let pending = Buffer.alloc(0);
  return (chunk) => {
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
}
