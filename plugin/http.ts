/** The answer to a request of HTTP/1.1, with nothing of HTTP that the nodes do not use. As http.c. */

/** Of the body and of the head, in bytes. */
export const LIMIT = 1024 * 1024;
const HEAD_LIMIT = 16 * 1024;

interface Head {
  readonly status: string;
  /** Where the body begins. */
  readonly end: number;
  /** The length of the body, at most `LIMIT + 1`, if the head states it. */
  readonly stated: number | undefined;
  readonly isChunked: boolean;
}

/** `undefined` while it is not whole; `other` when it cannot become a head of HTTP/1.1. */
function readHead(bytes: Buffer): Head | 'other' | undefined {
  const searched = bytes.subarray(0, HEAD_LIMIT);
  const end = searched.indexOf('\r\n\r\n');
  if (!'HTTP/1.'.startsWith(searched.toString('latin1', 0, 7))) return 'other';
  if (end < 0) return searched.length < HEAD_LIMIT ? undefined : 'other';
  const [line = '', ...headers] = searched.toString('latin1', 0, end).split('\r\n');
  const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(line)?.[1];
  const length = findHeader(headers, 'content-length:');
  if (status === undefined || (length !== undefined && !/^\d+$/.test(length))) return 'other';
  return {
    ...{ status, end: end + 4 },
    stated: lengthOf(status, length),
    isChunked: findHeader(headers, 'transfer-encoding:') !== undefined,
  };
}

/** A connection may stay open after 204, so its end must not be waited for (RFC 9112 §6.3). */
function lengthOf(status: string, stated: string | undefined): number | undefined {
  if (status === '204') return 0;
  return stated === undefined ? undefined : Math.min(Number(stated), LIMIT + 1);
}

/** The first of several counts. */
const findHeader = (headers: readonly string[], name: string): string | undefined =>
  headers
    .find((header) => header.toLowerCase().startsWith(name))
    ?.slice(name.length)
    .replaceAll(/^[ \t]+|[ \t]+$/g, '');

/** True when what is still to come makes no difference. */
export function isDecided(bytes: Buffer): boolean {
  const head = readHead(bytes);
  if (head === undefined || head === 'other') return head === 'other';
  return head.isChunked || bytes.length - head.end >= (head.stated ?? LIMIT + 1);
}

export interface Answer {
  readonly status: string;
  readonly text: string;
}

/**
 * Reads an answer that is decided or whose connection has ended; a text says why it is none.
 * @param broke The connection ended otherwise than by both sides being done.
 */
export function readAnswer(bytes: Buffer, broke: boolean): Answer | string {
  const [unsent, unread] = ['failed to send CNI request: ', 'failed to read CNI result: '];
  if (bytes.length === 0) return `${unsent}socket hang up`;
  const head = readHead(bytes);
  if (head === undefined || head === 'other') return `${unsent}the answer has no HTTP head`;
  if (head.isChunked) return `${unread}a Transfer-Encoding is not understood`;
  const came = bytes.length - head.end;
  const length = head.stated ?? came;
  if (came < length || (head.stated === undefined && broke)) return `${unread}aborted`;
  if (length > LIMIT) return `${unread}it is longer than ${LIMIT} bytes`;
  return { status: head.status, text: bytes.toString('utf8', head.end, head.end + length) };
}
