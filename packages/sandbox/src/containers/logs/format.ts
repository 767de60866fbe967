/**
 * The log format of the interface: a line for each line that a program wrote, `TIME stdout|stderr F|P TEXT`. P is a part of a
 * line that goes on in the next one. Pure.
 */

import { formatLogEntry, type LogStream } from '@podwire/cri/logs';

export type { LogStream };

/** One message of Docker's log: a line with its end, or a part of a long one without. */
export interface LogMessage {
  /** As Docker writes it: RFC 3339 with nine digits. */
  readonly time: string;
  readonly stream: LogStream;
  readonly text: Buffer;
  readonly isPartial: boolean;
}

const space = 0x20;
const newline = 0x0a;

/** Parts the time that Docker puts before each message (`timestamps=1`) from the text. Undefined for anything else. */
export function parseMessage(stream: LogStream, payload: Buffer): LogMessage | undefined {
  const gap = payload.indexOf(space);
  if (gap < 0) return undefined;
  const isPartial = payload.at(-1) !== newline;
  const text = payload.subarray(gap + 1, isPartial ? payload.length : payload.length - 1);
  return { time: payload.toString('latin1', 0, gap), stream, text, isPartial };
}

export function renderLine({ time, stream, text, isPartial }: LogMessage): Buffer {
  return formatLogEntry({ timestamp: time, stream, partial: isPartial, content: text });
}

/** Where a log ends: the last time in it, and how many lines of each stream have that time. */
export interface LogPosition {
  readonly time: string;
  readonly count: number;
}

/** @param tail the last bytes of a log; a first line that may be cut off is left out by the caller */
export function findPosition(tail: string): LogPosition | undefined {
  const times = tail.split('\n').flatMap((line) => /^(\S+) (?:stdout|stderr) [FP] /.exec(line)?.[1] ?? []);
  const time = times.at(-1);
  if (time === undefined) return undefined;
  return { time, count: times.filter((one) => one === time).length };
}

/** What Docker's `since` takes: seconds and nanoseconds since 1970. */
export function toSince({ time }: LogPosition): string {
  const [, seconds = '', fraction = '', zone = 'Z'] =
    /^([^.]+?)(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/.exec(time) ?? [];
  return `${Math.floor(Date.parse(`${seconds}${zone}`) / 1000)}.${fraction.padEnd(9, '0')}`;
}

/** Leaves out what is in the log already: Docker sends the messages of the very moment again. */
export function skipKnown(position: LogPosition | undefined): (message: LogMessage) => boolean {
  let left = position?.count ?? 0;
  return (message) => {
    if (left === 0 || message.time !== position?.time) return true;
    left -= 1;
    return false;
  };
}
