/** Clients of the socket that speak HTTP/2 as no client should: what they send ends their connection and nothing else. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectCri, type CriServer, serveCri } from '@podwire/cri';
import { createFakeRuntime } from '@podwire/cri/fake';

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const frameTypes = { data: 0, headers: 1, rstStream: 3, settings: 4 } as const;

function frame(type: keyof typeof frameTypes, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(frameTypes[type], 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Literals that no table remembers (RFC 7541 §6.2.2). */
function headerBlock(fields: Readonly<Record<string, string>>): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
  return Buffer.concat(
    Object.entries(fields).flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]),
  );
}

const settings = frame('settings', 0, 0, Buffer.alloc(0));
const cancel = frame('rstStream', 0, 1, Buffer.from([0, 0, 0, 8]));
const emptyMessage = frame('data', 1, 1, Buffer.alloc(5));

const headers = (changed: Readonly<Record<string, string>> = {}): Buffer =>
  frame(
    'headers',
    4,
    1,
    headerBlock({
      ':method': 'POST',
      ':scheme': 'http',
      ':path': '/runtime.v1.RuntimeService/Version',
      ':authority': 'localhost',
      'content-type': 'application/grpc',
      te: 'trailers',
      ...changed,
    }),
  );

let directory: string;
let socket: string;
let server: CriServer;
beforeAll(async () => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-hostile-'));
  socket = path.join(directory, 'cri.sock');
  server = await serveCri(createFakeRuntime(), { socket });
});
afterAll(async () => {
  await server.close(0);
  fs.rmSync(directory, { recursive: true });
});

/** Sends all in one piece, and goes when the server has answered something or has closed. */
async function send(bytes: Buffer): Promise<void> {
  const client = net.connect(socket);
  client.on('error', () => undefined);
  const closed = once(client, 'close');
  await once(client, 'connect');
  client.end(bytes);
  client.resume();
  await closed;
}

async function expectToServe(): Promise<void> {
  const runtime = await connectCri({ socket });
  try {
    expect((await runtime.version({ version: 'v1' })).runtimeApiVersion).toBe('v1');
  } finally {
    runtime.close();
  }
}

describe('a request that its client resets in the same breath', () => {
  test.each([
    ['of a method that there is', {}],
    ['of a method that there is not', { ':path': '/runtime.v1.RuntimeService/Nothing' }],
    ['of no method', { ':path': '/' }],
    ['of another content type', { 'content-type': 'text/plain' }],
    ['with a deadline that is none', { 'grpc-timeout': 'soon' }],
    ['in an encoding that there is not', { 'grpc-encoding': 'rot13' }],
  ])('%s', async (_what, changed) => {
    await send(Buffer.concat([preface, settings, headers(changed), cancel]));
    await send(Buffer.concat([preface, settings, headers(changed), emptyMessage, cancel]));
    await expectToServe();
  });
});

test('conversations with a few bytes changed, left out or doubled', async () => {
  const parts = [preface, settings, headers(), headers({ ':path': '/x' }), emptyMessage, cancel];
  const next = createNumbers(20_261_122);
  for (let round = 0; round < 300; round += 1) {
    const chosen = Array.from({ length: 2 + (next() % 5) }, () => parts[2 + (next() % (parts.length - 2))]!);
    const bytes = Buffer.concat([preface, settings, ...chosen]);
    for (let change = next() % 4; change > 0; change -= 1) {
      bytes[preface.length + (next() % (bytes.length - preface.length))] = next() % 256;
    }
    await send(bytes.subarray(0, bytes.length - (next() % 3 === 0 ? next() % 40 : 0)));
  }
  await expectToServe();
});

/** The same numbers in every run (Lehmer). */
function createNumbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647);
}

test.skipIf(process.getuid?.() !== 0)(
  'a client of another user is not heard, whatever the file’s mode',
  async () => {
    fs.chmodSync(directory, 0o711);
    fs.chmodSync(socket, 0o666);
    // Inside the directory first: the way to it is closed to that user.
    const script = `process.chdir(${JSON.stringify(directory)});
      process.setgroups([]); process.setgid(65534); process.setuid(65534);
      const heard = (what) => { process.stdout.write(what); process.exit(); };
      const client = require('net').connect('cri.sock');
      client.on('data', () => heard('data')).on('close', () => heard('closed')).on('error', (e) => heard(e.code));`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    await once(child, 'close');
    expect(['closed', 'ECONNRESET']).toContain(said);
  },
);
