/** One request over HTTP/2 (RFC 9113), on a connection that is there. */
import type { ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';

export interface Http2Request {
  /** With the scheme, `https://10.0.0.1:8443`. */
  readonly authority: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Buffer;
}

export interface Http2Answer {
  readonly headers: IncomingHttpHeaders & { readonly ':status'?: number };
  /** The body's beginning, `most` bytes or a little more, or all of it. @throws when it breaks off before */
  readBody(most: number): Promise<Buffer>;
  /** Fields that follow the body; empty until it has been read. */
  trailers(): IncomingHttpHeaders;
}

/**
 * Asks, and hands the answer to `read` as soon as its head is there. The connection stays: the caller ends it, and HTTP/2 with
 * it.
 * @throws whatever kept the answer from coming; what `read` throws
 */
export async function requestOverHttp2<T>(
  socket: Socket,
  { authority, headers, body }: Http2Request,
  read: (answer: Http2Answer) => Promise<T>,
): Promise<T> {
  const { connect } = await import('node:http2');
  const session = connect(authority, { createConnection: () => socket });
  const failed = new Promise<never>((_, reject) => session.on('error', reject));
  return Promise.race([failed, askWith(session.request(headers), body, read)]);
}

async function askWith<T>(
  stream: ClientHttp2Stream,
  body: Buffer | undefined,
  read: (answer: Http2Answer) => Promise<T>,
): Promise<T> {
  let trailers: IncomingHttpHeaders = {};
  stream.once('trailers', (fields: IncomingHttpHeaders) => (trailers = fields));
  const head = headOf(stream);
  stream.end(body);
  return read({
    headers: await head,
    readBody: (most) => readBody(stream, most),
    trailers: () => trailers,
  });
}

function headOf(stream: ClientHttp2Stream): Promise<Http2Answer['headers']> {
  return new Promise((resolve, reject) => {
    stream.once('response', resolve);
    stream.on('error', reject);
    stream.once('close', () => reject(new Error('the server has ended the request without an answer')));
  });
}

async function readBody(stream: ClientHttp2Stream, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= most) break;
  }
  return Buffer.concat(chunks);
}
