/**
 * Reads the answer to one GET by the rules of Go's net/http (ReadResponse, transfer.go, internal/chunked.go, net/textproto), since
 * these decide with the kubelet what a healthy answer is. Servers of a few lines of shell are as good there as any other.
 * Parsers for Node refuse some of what they take: two equal Content-Lengths, a blank before the colon, an empty name.
 */
import { type Bytes, UnexpectedEnd } from './socket-bytes.js';

export interface AnswerHead {
  readonly status: number;
  /** Small letters; a name with a blank in it is another name. Values in their order. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: BodyKind;
}

/** `length`: so many bytes. `chunked`: to the last chunk. `rest`: to the end of the connection. */
export type BodyKind =
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'rest' };

/** Go takes ten times as much; no probe needs it. */
const mostHeadBytes = 1024 * 1024;
const mostInformational = 5;

/** Informational answers (1xx) before the one that counts are passed over. @throws for what Go calls malformed */
export async function readHead(bytes: Bytes): Promise<AnswerHead> {
  for (let passed = 0; passed <= mostInformational; passed++) {
    const head = await readOneHead(bytes);
    if (head.status < 100 || head.status > 199 || head.status === 101) return head;
  }
  throw new Error('too many informational answers (1xx)');
}

async function readOneHead(bytes: Bytes): Promise<AnswerHead> {
  const { status, isLeast11 } = parseStatusLine(toText(await bytes.readLine(mostHeadBytes)));
  const headers = await readHeaders(bytes, bytes.count() + mostHeadBytes);
  return { status, headers, body: bodyOf(status, isLeast11, headers) };
}

function parseStatusLine(line: string): { readonly status: number; readonly isLeast11: boolean } {
  const parts = /^HTTP\/(\d)\.(\d) +(\d{3})(?: .*)?$/s.exec(line);
  if (parts === null) throw new Error(`no HTTP status line: ${JSON.stringify(line.slice(0, 80))}`);
  const [major, minor, status] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  return { status, isLeast11: major > 1 || (major === 1 && minor >= 1) };
}

/** A line ends with LF; a CR before it belongs to the end. */
function toText(line: Buffer): string {
  return line.toString('latin1').replace(/\r$/, '');
}

async function readHeaders(bytes: Bytes, limit: number): Promise<Map<string, string[]>> {
  const lines = await readFieldLines(bytes, limit);
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 0) throw malformed(line);
    if (colon === 0) continue;
    const name = line.slice(0, colon).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), trim(line.slice(colon + 1))]);
  }
  return headers;
}

/** Lines that begin with a blank go on with the one before. */
async function readFieldLines(bytes: Bytes, limit: number): Promise<string[]> {
  const lines: string[] = [];
  for (;;) {
    const line = toText(await bytes.readLine(mostHeadBytes));
    if (bytes.count() > limit) throw new Error(`its headers are longer than ${mostHeadBytes} bytes`);
    if (line === '') return lines;
    const isMore = /^[ \t]/.test(line);
    const last = lines.at(-1);
    if (isMore && last === undefined) throw malformed(line);
    if (!isMore && !line.includes(':')) throw malformed(line);
    if (isMore) lines[lines.length - 1] = `${last} ${trim(line)}`;
    else lines.push(trim(line));
  }
}

function malformed(line: string): Error {
  return new Error(`malformed header: ${JSON.stringify(line.slice(0, 80))}`);
}

function trim(text: string): string {
  return text.replace(/^[ \t]+/, '').replace(/[ \t]+$/, '');
}

function bodyOf(status: number, isLeast11: boolean, headers: AnswerHead['headers']): BodyKind {
  const encodings = headers.get('transfer-encoding');
  // HTTP/1.0 has none: whatever is said of it is passed over (golang/go #12785).
  const isChunked = encodings !== undefined && isLeast11;
  if (isChunked && (encodings.length !== 1 || encodings[0]!.toLowerCase() !== 'chunked')) {
    throw new Error(`unsupported transfer encoding: ${JSON.stringify(encodings)}`);
  }
  // Beside chunks a length does not count (RFC 7230, 3.3.2).
  const lengths = isChunked ? [] : (headers.get('content-length') ?? []);
  if (lengths.some((each) => each !== lengths[0])) {
    throw new Error(`several Content-Lengths: ${JSON.stringify(lengths)}`);
  }
  if (status < 200 || status === 204 || status === 304) return { kind: 'length', length: 0 };
  if (isChunked) return { kind: 'chunked' };
  const [length = ''] = lengths;
  return length === '' ? { kind: 'rest' } : { kind: 'length', length: parseLength(length) };
}

function parseLength(text: string): number {
  if (!/^\d+$/.test(text) || BigInt(text) >= 2n ** 63n) throw new Error(`bad Content-Length: ${text}`);
  return Number(text);
}

/**
 * Reads the body to its end, or to the first `most` bytes: what comes after those is not looked at.
 * @throws UnexpectedEnd when it breaks off before
 */
export async function readBody(bytes: Bytes, { body }: AnswerHead, most: number): Promise<void> {
  if (body.kind === 'length') await skip(bytes, Math.min(body.length, most));
  else if (body.kind === 'chunked') await skipChunks(bytes, most);
  else await skipRest(bytes, most);
}

async function skip(bytes: Bytes, length: number): Promise<void> {
  for (let left = length; left > 0;) {
    const part = await bytes.readSome(left);
    if (part === undefined) throw new UnexpectedEnd();
    left -= part.length;
  }
}

async function skipRest(bytes: Bytes, most: number): Promise<void> {
  for (let left = most; left > 0;) {
    const part = await bytes.readSome(left);
    if (part === undefined) return;
    left -= part.length;
  }
}

const mostChunkLine = 4095;

async function skipChunks(bytes: Bytes, most: number): Promise<void> {
  for (let left = most; left > 0;) {
    const length = await readChunkLength(bytes);
    if (length === 0) {
      await readFieldLines(bytes, bytes.count() + mostChunkLine);
      return;
    }
    await skip(bytes, Math.min(length, left));
    left -= length;
    if (left > 0) await skipChunkEnd(bytes);
  }
}

/** Hexadecimal; what follows a semicolon is passed over. Nothing at all is 0. */
async function readChunkLength(bytes: Bytes): Promise<number> {
  const line = (await bytes.readLine(mostChunkLine)).toString('latin1').trimEnd();
  const digits = line.split(';', 1)[0]!;
  if (!/^[0-9a-fA-F]{0,16}$/.test(digits)) {
    throw new Error(`malformed chunk length: ${JSON.stringify(digits.slice(0, 80))}`);
  }
  return Number.parseInt(digits, 16) || 0;
}

async function skipChunkEnd(bytes: Bytes): Promise<void> {
  const [first, second] = [await readByte(bytes), await readByte(bytes)];
  if (first !== 0x0d || second !== 0x0a) throw new Error('a chunk does not end where its length says');
}

async function readByte(bytes: Bytes): Promise<number> {
  const part = await bytes.readSome(1);
  if (part === undefined) throw new UnexpectedEnd();
  return part[0]!;
}
