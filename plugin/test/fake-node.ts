/** A node that answers a plugin over HTTP what a test wants, and what plugins print. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import type { Outcome } from './programs.js';

/** JSON as Go escapes it. */
export const escapeAsGo = (json: string): string =>
  json.replaceAll(
    new RegExp('[<>&\u2028\u2029]', 'g'),
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The output of an error. */
export const failed = (msg: string, code = 100, details?: string): string =>
  escapeAsGo(JSON.stringify({ code, msg, details }, null, 4));

export function check(outcome: Outcome, code: number, stdout: string, stderr = ''): void {
  assert.equal(outcome.stderr, stderr);
  assert.equal(outcome.stdout.toString(), stdout);
  assert.equal(outcome.code, code);
}

export interface FakeNode {
  /** Whole requests. */
  readonly requests: string[];
  /** Replaced by a test that wants another answer from now on. */
  answer: string | Buffer | ((socket: net.Socket) => void);
  /** Sees a connection before its request. */
  onConnection: (socket: net.Socket) => void;
  stop: () => Promise<void>;
}

/** Listens on a socket, and answers each request once it is whole. */
export async function startNode(file: string): Promise<FakeNode> {
  const open = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    let received = Buffer.alloc(0);
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (!isWhole(received)) return;
      node.requests.push(received.toString());
      if (typeof node.answer === 'function') node.answer(socket);
      else socket.end(node.answer);
    });
    node.onConnection(socket);
  });
  const stop = async (): Promise<void> => {
    for (const socket of open) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  const node: FakeNode = { requests: [], answer: '', onConnection: () => undefined, stop };
  server.listen(file);
  await once(server, 'listening');
  return node;
}

function isWhole(request: Buffer): boolean {
  const end = request.indexOf('\r\n\r\n');
  const length = /\r\nContent-Length: (\d+)\r\n/.exec(request.toString('latin1', 0, end + 2))?.[1];
  return end >= 0 && request.length - end - 4 === Number(length);
}

/** An answer with status 200 as Podwire's agent sends it. */
export const good = (body: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        'Connection: close\r\n\r\n',
    ),
    Buffer.from(body),
  ]);
