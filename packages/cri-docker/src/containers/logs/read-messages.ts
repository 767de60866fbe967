/** Docker's answer to `logs`, cut into messages. */
import { createFrameReader } from '../../docker/index.js';
import {
  cutLongText,
  findHead,
  type LogMessage,
  longestHead,
  longestText,
  parseMessage,
  shortestHead,
} from './format.js';

/** The messages that each chunk completes. With a terminal there are no frames, and all is standard output. */
export async function* readMessages(
  source: AsyncIterable<Buffer>,
  tty: boolean,
): AsyncGenerator<LogMessage[]> {
  const { cut, rest } = tty ? createLineCutter() : createFrameCutter();
  for await (const chunk of source) yield cut(chunk).flatMap(cutLongText);
  yield rest().flatMap(cutLongText);
}

interface Cutter {
  readonly cut: (chunk: Buffer) => LogMessage[];
  /** The messages that are left when the log is over. */
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

/** bytes held at most: a part of which Docker has replaced every byte by three, its time and the next one's */
const mostHeld = 4 * longestText;
/** Before this no other message can begin. */
const firstPlace = shortestHead + longestText;
const newline = 0x0a;

/**
 * Cuts what comes without frames: at line ends, and in a longer line where Docker has begun a new message, after 16 KiB or (where a
 * character was cut in two) some bytes more. What is held is bounded, and every byte is looked at a few times at most.
 */
function createLineCutter(): Cutter {
  const held = Buffer.allocUnsafe(mostHeld);
  let length = 0;
  let searched = 0;
  const release = (end: number): LogMessage[] => {
    const message = parseMessage('stdout', Buffer.from(held.subarray(0, end)));
    held.copyWithin(0, end, length);
    length -= end;
    searched = 0;
    return message === undefined ? [] : [message];
  };
  const releaseFull = (): LogMessage[] => {
    const messages = release(length);
    // It goes on at the same time.
    for (const { time } of messages) length = held.write(`${time} `, 'latin1');
    return messages;
  };
  const releaseParts = (): LogMessage[] => {
    const messages: LogMessage[] = [];
    for (;;) {
      const next = findHead(held.subarray(0, length), Math.max(firstPlace, searched - longestHead));
      searched = length;
      if (next < 0) return messages;
      messages.push(...release(next));
    }
  };
  const cut = (chunk: Buffer): LogMessage[] => {
    const messages: LogMessage[] = [];
    for (let start = 0; start < chunk.length;) {
      const room = chunk.subarray(start, start + mostHeld - length);
      const end = room.indexOf(newline) + 1;
      const taken = end > 0 ? end : room.length;
      held.set(room.subarray(0, taken), length);
      length += taken;
      start += taken;
      if (length > firstPlace) messages.push(...releaseParts());
      if (end > 0) messages.push(...release(length));
      else if (length === mostHeld) messages.push(...releaseFull());
    }
    return messages;
  };
  // A program need not end its last line.
  return { cut, rest: () => release(length) };
}
