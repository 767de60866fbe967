/**
 * Answers as they come over the wire, and what the kubelet makes of them. The probeResults are those of its own code (pkg/probe/http,
 * DoHTTPProbe) with net/http of Go 1.19: each row was given to both, over a socket that is closed after the last byte.
 */
import { describe, expect, test } from 'vitest';
import { httpGet, type HttpGet } from '../../src/probes/http-get.js';
import { loopbackServers } from './servers.js';

const servers = loopbackServers();
const live = new AbortController().signal;
const action: HttpGet = { path: '/', port: 0, scheme: 'HTTP', httpHeaders: [] };

/** @param text one byte for each character */
async function ask(text: string, brokenBody: 'fails' | 'counts' = 'fails'): Promise<number | string> {
  const { port } = await servers.tcp((socket) => {
    socket.once('data', () => socket.end(Buffer.from(text, 'latin1')));
  });
  return httpGet({ action, address: '127.0.0.1', port, brokenBody }, live).then(
    ({ status }) => status,
    (error: unknown) => (error as Error).message,
  );
}

const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;
const long = 'x'.repeat(10 * 1024);

const taken: readonly (readonly [what: string, answer: string, status: number])[] = [
  ['lines that end with LF', 'HTTP/1.0 200 OK\nContent-Type: text/plain\n\nhello', 200],
  ['LF and a length', 'HTTP/1.1 200 OK\nContent-Length: 5\n\nhello', 200],
  ['two equal lengths', `${ok}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`, 200],
  ['two equal lengths, one with blanks', `${ok}Content-Length: 5\r\nContent-Length:  5 \r\n\r\nhello`, 200],
  [
    'a length beside chunks',
    `${ok}Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    200,
  ],
  [
    'a bad length beside chunks',
    `${ok}Content-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    200,
  ],
  ['a blank before the colon', `${ok}X-Foo : bar\r\nContent-Length: 0\r\n\r\n`, 200],
  ['a length with a blank before the colon, which is none', `${ok}Content-Length : 99\r\n\r\nhello`, 200],
  ['an empty name', `${ok}: bar\r\nContent-Length: 0\r\n\r\n`, 200],
  ['a name with odd signs', `${ok}X(Foo): bar\r\nContent-Length: 0\r\n\r\n`, 200],
  ['control characters in a value', `${ok}X-Foo: b\x01\x07\x1b[0m\x7f\r\nContent-Length: 0\r\n\r\n`, 200],
  ['a NUL in a value', `${ok}X-Foo: b\0ar\r\nContent-Length: 0\r\n\r\n`, 200],
  ['bytes above 127 in a value', `${ok}X-Foo: b\xe4r\r\nContent-Length: 0\r\n\r\n`, 200],
  ['a value over two lines', `${ok}X-Foo: a\r\n  b\r\nContent-Length: 0\r\n\r\n`, 200],
  ['no words after the status', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', 200],
  ['several blanks before the status', 'HTTP/1.1   204 No Content\r\n\r\n', 204],
  ['HTTP/2.0 as its version', 'HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n', 200],
  ['no headers', `${ok}\r\n`, 200],
  ['a body to the end of the connection', `${ok}Content-Type: text/plain\r\n\r\nhello`, 200],
  ['an empty length, which is none', `${ok}Content-Length: \r\n\r\nhello`, 200],
  ['more than its length', `${ok}Content-Length: 2\r\n\r\nhello`, 200],
  [
    'an encoding of HTTP/1.0, which has none',
    'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello',
    200,
  ],
  ['chunks', `${chunked}5\r\nhello\r\n0\r\n\r\n`, 200],
  ['chunks with extensions and a trailer', `${chunked}5;a=b\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n`, 200],
  ['chunk lengths that end with LF', `${chunked}5\nhello\r\n0\n\r\n`, 200],
  [
    'an informational answer first',
    `HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n${ok}Content-Length: 0\r\n\r\n`,
    200,
  ],
  ['a length where no body may be', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n', 304],
  ['a redirect to nowhere', 'HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n', 302],
  [
    'a status with a place that is no redirect',
    'HTTP/1.1 300 Multiple\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n',
    300,
  ],
  ['another status', 'HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n', 503],
  ['a body cut after the first 10 KiB', `${ok}Content-Length: 20000\r\n\r\n${long}`, 200],
  ['a chunk cut after the first 10 KiB', `${chunked}4e20\r\n${long}`, 200],
];

const refused: readonly (readonly [what: string, answer: string, why: string])[] = [
  ['a body that breaks off', `${ok}Content-Length: 20\r\n\r\nhello`, 'breaks off'],
  [
    'a body that breaks off before 10 KiB',
    `${ok}Content-Length: 20000\r\n\r\n${long.slice(1)}`,
    'breaks off',
  ],
  ['a body that does not begin', `${ok}Content-Length: 20\r\n\r\n`, 'breaks off'],
  ['a chunk that breaks off', `${chunked}5\r\nhel`, 'breaks off'],
  ['no last chunk', `${chunked}5\r\nhello\r\n`, 'breaks off'],
  ['no end after the last chunk', `${chunked}5\r\nhello\r\n0\r\n`, 'breaks off'],
  ['a chunk longer than it says', `${chunked}4\r\nhello\r\n0\r\n\r\n`, 'does not end where'],
  ['a chunk length that is none', `${chunked}five\r\nhello\r\n0\r\n\r\n`, 'malformed chunk length'],
  [
    'two lengths that differ',
    `${ok}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
    'several Content-Lengths',
  ],
  ['a length that is no number', `${ok}Content-Length: +5\r\n\r\nhello`, 'bad Content-Length'],
  ['a length beyond 63 bits', `${ok}Content-Length: 9223372036854775808\r\n\r\nhello`, 'bad Content-Length'],
  ['an unknown encoding', `${ok}Transfer-Encoding: gzip\r\n\r\nhello`, 'unsupported transfer encoding'],
  [
    'two encodings',
    `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'unsupported',
  ],
  ['a list of encodings', `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 'unsupported'],
  ['a header without a colon', `${ok}X-Foo\r\nContent-Length: 0\r\n\r\n`, 'malformed header'],
  ['a blank before the first header', `${ok} X-Foo: a\r\nContent-Length: 0\r\n\r\n`, 'malformed header'],
  ['headers that break off', `${ok}X-Foo: a\r\n`, 'breaks off'],
  ['nothing', '', 'breaks off'],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'no HTTP status line'],
  ['HTTP/0.9', 'hello\n', 'no HTTP status line'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', 'no HTTP status line'],
  ['a version without a point', 'HTTP/2 200 OK\r\n\r\n', 'no HTTP status line'],
  ['only informational answers', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(7), 'too many informational'],
];

describe('an HTTP answer', () => {
  test.each(taken)('with %s counts', async (_, answer, status) => {
    expect(await ask(answer)).toBe(status);
  });

  test.each(refused)('with %s is a failure', async (_, answer, why) => {
    expect(await ask(answer)).toContain(why);
  });

  test('that breaks off counts for a hook, which has been heard', async () => {
    expect(await ask(`${ok}Content-Length: 20\r\n\r\nhello`, 'counts')).toBe(200);
    expect(await ask(`${ok}X-Foo: a\r\n`, 'counts')).toContain('breaks off');
  });

  test('with headers without end is given up', async () => {
    const { port } = await servers.tcp((socket) => {
      socket.on('error', () => undefined);
      const more = (): void => {
        while (socket.write(`X-Foo: ${'x'.repeat(10_000)}\r\n`));
      };
      socket.once('data', () => socket.write(ok));
      socket.on('drain', more);
      socket.once('data', more);
    });
    const target = { action, address: '127.0.0.1', port, brokenBody: 'fails' } as const;
    await expect(httpGet(target, live)).rejects.toThrow('headers are longer than');
  });

  test('that comes byte by byte, and before the question was read, counts', async () => {
    const bytes = Buffer.from(`${chunked}5\r\nhello\r\n0\r\n\r\n`);
    const { port } = await servers.tcp((socket) => {
      socket.setNoDelay(true);
      let at = 0;
      const next = (): void => {
        if (at < bytes.length) socket.write(bytes.subarray(at, (at += 1)), () => setImmediate(next));
        // A reset, since what the client has sent is still unread.
        else socket.destroy();
      };
      socket.pause();
      next();
    });
    const target = { action, address: '127.0.0.1', port, brokenBody: 'fails' } as const;
    expect(await httpGet(target, live)).toEqual({ status: 200 });
  });
});
