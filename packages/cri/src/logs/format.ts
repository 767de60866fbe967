/**
 * The log format of the CRI: one line per entry, `TIME STREAM TAGS TEXT`. TIME is RFC 3339 with nanoseconds; the first of the
 * TAGS (joined by `:`) is F for a whole line, or P for a part of one that the next entry of the stream goes on with.
 */

export type LogStream = 'stdout' | 'stderr';

export interface LogEntry {
  /** RFC 3339, as it stands in the file. */
  readonly timestamp: string;
  readonly stream: LogStream;
  /** The line goes on in the next entry of its stream. */
  readonly partial: boolean;
  /** Without line break. */
  readonly content: Buffer;
}

export function formatLogEntry({ timestamp, stream, partial, content }: LogEntry): Buffer {
  const head = Buffer.from(`${timestamp} ${stream} ${partial ? 'P' : 'F'} `, 'latin1');
  return Buffer.concat([head, content, lineBreak]);
}

/**
 * Reads one line, without its line break: of the CRI's format, or of Docker's json-file, which is what a log directory holds when
 * Docker Engine is the runtime.
 * @returns nothing for a line that is neither
 */
export function parseLogLine(line: Buffer): LogEntry | undefined {
  return line[0] === openBrace ? parseDockerLine(line) : parseCriLine(line);
}

const lineBreak = Buffer.from('\n');
const openBrace = 0x7b;
const space = 0x20;

function parseCriLine(line: Buffer): LogEntry | undefined {
  const first = line.indexOf(space);
  const second = line.indexOf(space, first + 1);
  if (first < 1 || second < 0) return undefined;
  // An empty text may come without the space before it.
  const third = line.indexOf(space, second + 1);
  const timestamp = line.toString('latin1', 0, first);
  const stream = line.toString('latin1', first + 1, second);
  const tags = line.toString('latin1', second + 1, third < 0 ? line.length : third).split(':');
  if (!isStream(stream) || !isTimestamp(timestamp) || (tags[0] !== 'F' && tags[0] !== 'P')) return undefined;
  return {
    timestamp,
    stream,
    partial: tags[0] === 'P',
    content: line.subarray(third < 0 ? line.length : third + 1),
  };
}

function parseDockerLine(line: Buffer): LogEntry | undefined {
  const value = parseObject(line);
  const { log, stream, time } = value ?? {};
  if (typeof log !== 'string' || typeof stream !== 'string' || typeof time !== 'string') return undefined;
  if (!isStream(stream) || !isTimestamp(time)) return undefined;
  // Docker cuts long lines as well: what has no line break goes on.
  const partial = !log.endsWith('\n');
  return { timestamp: time, stream, partial, content: Buffer.from(partial ? log : log.slice(0, -1), 'utf8') };
}

function parseObject(line: Buffer): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line.toString('utf8')) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function isStream(text: string): text is LogStream {
  return text === 'stdout' || text === 'stderr';
}

/** A damaged line may have the form of a time with a month 13. */
function isTimestamp(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text))
  );
}

/** @returns nanoseconds since 1970 of an RFC 3339 time, so that times within a millisecond keep their order */
export function timestampNanoseconds(timestamp: string): bigint {
  const match = /^(.*?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(timestamp);
  const seconds = Date.parse(`${match?.[1] ?? ''}${match?.[3] ?? ''}`) / 1000;
  if (Number.isNaN(seconds)) throw new RangeError(`"${timestamp}" is no RFC 3339 time`);
  return BigInt(seconds) * 1_000_000_000n + BigInt((match?.[2] ?? '').padEnd(9, '0'));
}

/** @param nanoseconds since 1970 @returns RFC 3339 in UTC with all nine digits, as containerd writes it */
export function formatTimestamp(nanoseconds: bigint): string {
  const seconds = new Date(Number(nanoseconds / 1_000_000n)).toISOString().slice(0, 19);
  return `${seconds}.${(nanoseconds % 1_000_000_000n).toString().padStart(9, '0')}Z`;
}
