/** Clients that name the path of the unix socket as their authority, as grpc-go does. */
import { once } from 'node:events';
import fs from 'node:fs';
import http2 from 'node:http2';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveCri } from '@podwire/cri';
import { createFakeRuntime } from '@podwire/cri/fake';
import { repairConnection } from '../src/server/authority/connection.js';
import { createAuthorityRepair } from '../src/server/authority/frames.js';
import { repairAuthority } from '../src/server/authority/header-block.js';
import { decodeHuffman } from '../src/server/authority/huffman.js';

/** Bytes that crictl 1.26.1 sends for Version, with the socket /tmp/cap.sock: preface, settings, HEADERS, DATA. */
const preface = '505249202a20485454502f322e300d0a0d0a534d0d0a0d0a000000040000000000';
const authority = '8a6134d6c1075ae8393aff';
const version =
  '000000040100000000' +
  `0000730104000000018386459962cb6a49a92afdc2bedb6a49a92ee2d9dcc42b1c4b620c7abf41${authority}` +
  '5f8b1d75d0620d263d4c4d65647a8a9acac8b4c7602bb615c140027465864d833505b11f408e9acac8b0c842d6958b510f21aa9b83' +
  '9bd9ab40899acac8b24d494f6a7f860befba275eb700000500010000000100000000' +
  '00';

let directory: string;
let server: http2.Http2Server;
let listener: net.Server;
let socket: string;

beforeAll(async () => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-authority-'));
  socket = path.join(directory, 'h2.sock');
  server = http2.createServer();
  server.on('stream', (stream, headers) => {
    stream.respond({ authority: headers[':authority'], echo: headers['x-echo'] });
    stream.pipe(stream);
  });
  listener = net.createServer((connection) => server.emit('connection', repairConnection(connection)));
  listener.listen(socket);
  await once(listener, 'listening');
});
afterAll(() => {
  listener.close();
  fs.rmSync(directory, { recursive: true });
});

function request(
  session: http2.ClientHttp2Session,
  name: string,
  echo: string,
  body = '',
): Promise<{ authority: unknown; echo: unknown; body: string }> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': 'POST', ':path': '/', ':authority': name, 'x-echo': echo });
    let headers: http2.IncomingHttpHeaders = {};
    let text = '';
    stream.on('response', (answer) => (headers = answer));
    stream.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    stream.on('end', () => resolve({ authority: headers['authority'], echo: headers['echo'], body: text }));
    stream.on('error', reject);
    stream.end(body);
  });
}

async function withSession<T>(work: (session: http2.ClientHttp2Session) => Promise<T>): Promise<T> {
  const session = http2.connect('http://localhost', { createConnection: () => net.connect(socket) });
  try {
    return await work(session);
  } finally {
    session.destroy();
  }
}

test('the text in crictl’s own bytes', () => {
  expect(decodeHuffman(Buffer.from(authority.slice(2), 'hex'))).toBe('/tmp/cap.sock');
  const block = Buffer.from(`41${authority}`, 'hex');
  expect(repairAuthority(block)).toEqual(
    Buffer.concat([Buffer.from([0x41, 13]), Buffer.from('-tmp-cap.sock')]),
  );
});

test('crictl is answered', async () => {
  const file = path.join(directory, 'cri.sock');
  const cri = await serveCri(createFakeRuntime(), { socket: file });
  const client = net.connect(file);
  const chunks: Buffer[] = [];
  client.on('data', (chunk: Buffer) => chunks.push(chunk));
  client.write(Buffer.from(preface, 'hex'));
  await once(client, 'data');
  client.write(Buffer.from(version, 'hex'));
  // VersionResponse is the only place where this text can come from.
  await expect.poll(() => Buffer.concat(chunks).toString('latin1')).toContain('fake');
  client.destroy();
  await cri.close(0);
});

test('request after request, also when the compression tables run over', async () => {
  await withSession(async (session) => {
    for (let count = 0; count < 60; count += 1) {
      const name = `/run/pod${count % 3}/cri.sock`;
      const echo = `${count}-${'x'.repeat(150)}`;
      const answer = await request(session, name, echo, `body ${count}`);
      expect(answer).toEqual({ authority: name.replaceAll('/', '-'), echo, body: `body ${count}` });
    }
  });
});

test('proper names and large bodies pass as they are', async () => {
  await withSession(async (session) => {
    const body = 'y'.repeat(5_000_000);
    const answers = await Promise.all(
      ['localhost', 'a.b:80'].map((name) => request(session, name, name, body)),
    );
    expect(answers.map((answer) => answer.authority)).toEqual(['localhost', 'a.b:80']);
    expect(answers.every((answer) => answer.body === body)).toBe(true);
  });
});

test('any path, whatever the characters and the pieces', async () => {
  const printable = fc
    .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 60 })
    .map((text) => `/${text.trim()}`);
  // Those that few paths have are left to be refused, as before.
  const known = printable.filter((text) => !/[\\^{}<`]/.test(text));
  await fc.assert(
    fc.asyncProperty(known, (name) =>
      withSession(async (session) => {
        const { authority: seen } = await request(session, name, 'x');
        expect(String(seen)).toHaveLength(name.length);
        expect(String(seen)).toMatch(/^-[^/]*$/);
      }),
    ),
    { numRuns: 60 },
  );
});

test('bytes that are no HTTP/2 pass as they are', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 80 })), (chunks) => {
      const repair = createAuthorityRepair();
      const inBytes = Buffer.concat(chunks);
      const outBytes = Buffer.concat(chunks.flatMap((chunk) => repair(Buffer.from(chunk))));
      expect(inBytes.subarray(0, Math.min(24, inBytes.length)).equals(outBytes.subarray(0, 24))).toBe(true);
      expect(repairAuthority(inBytes).length).toBeGreaterThanOrEqual(0);
    }),
  );
});

test('a stream that is cut anywhere gives the same', () => {
  const whole = Buffer.from(preface + version, 'hex');
  const expected = Buffer.concat(createAuthorityRepair()(whole));
  for (let at = 1; at < whole.length; at += 1) {
    const repair = createAuthorityRepair();
    const parts = [...repair(whole.subarray(0, at)), ...repair(whole.subarray(at))];
    expect(Buffer.concat(parts).equals(expected)).toBe(true);
  }
});
