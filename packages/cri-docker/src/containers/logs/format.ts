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

const newline = 0x0a;

/** The prefix that Docker puts before each message (`timestamps=1`). */
const head = String.raw`(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(?:Z|[+-]\d\d:\d\d)) `;
const headAtStart = new RegExp(`^${head}`);
const headAnywhere = new RegExp(head);
/** bytes, with `Z` or `+01:00` */
export const shortestHead = 31;
export const longestHead = 36;

/** Parts the time from the text. Undefined for anything else, such as what the engine says of an error. */
export function parseMessage(stream: LogStream, payload: Buffer): LogMessage | undefined {
  const time = headAtStart.exec(payload.toString('latin1', 0, longestHead))?.[1];
  if (time === undefined) return undefined;
  const isPartial = payload.at(-1) !== newline;
  const text = payload.subarray(time.length + 1, isPartial ? payload.length : payload.length - 1);
  return { time, stream, text, isPartial };
}

/** @returns where the next message begins that is found from `from` on, or -1. Part of its time may still be to come */
export function findHead(data: Buffer, from: number): number {
  const found = headAnywhere.exec(data.toString('latin1', from));
  return found === null ? -1 : from + found.index;
}

/** bytes of a line after which it goes on in the next one: Docker, containerd and the embedded runtime all cut here */
export const longestText = 16_384;

/** Parts of at most 16 KiB: Docker writes three bytes for each one that is no UTF-8, and other log drivers cut elsewhere. */
export function cutLongText(message: LogMessage): LogMessage[] {
  const { text } = message;
  if (text.length <= longestText) return [message];
  const parts = Math.ceil(text.length / longestText);
  return Array.from({ length: parts }, (_, index) => ({
    ...message,
    text: text.subarray(index * longestText, (index + 1) * longestText),
    isPartial: message.isPartial || index < parts - 1,
  }));
}

export function renderLine({ time, stream, text, isPartial }: LogMessage): Buffer {
  return formatLogEntry({ timestamp: time, stream, partial: isPartial, content: text });
}

/** The end of a log: the last time in it, and how many lines of each stream have that time. */
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

/** The position for Docker's `since`: seconds and nanoseconds since 1970. */
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
