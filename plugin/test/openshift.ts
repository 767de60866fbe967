/** Common parts of the tests of openshift-sdn: its calls, its outputs, and a node that answers what a test wants. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { buildPrograms, type Outcome, type Program } from './programs.js';

export interface Built {
  readonly programs: readonly Program[];
  /** Where they look for `socket` and `config.json`. It is not there at first. */
  readonly runDirectory: string;
}

/** Every form of the plugin, as of `buildPrograms`. */
export async function buildOpenshift(folder: string): Promise<Built> {
  const runDirectory = path.join(folder, 'run/cniserver');
  const programs = await buildPrograms(folder, { program: 'openshift-sdn', place: runDirectory });
  return { programs, runDirectory };
}

export const networkConfig = (cniVersion: string): string =>
  JSON.stringify({ cniVersion, name: 'openshift-sdn', type: 'openshift-sdn' });

const variables = {
  CNI_CONTAINERID: 'abc',
  CNI_NETNS: '/run/netns/pod',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/opt/cni/bin',
  CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod',
};
export const ADD = { CNI_COMMAND: 'ADD', ...variables };
export const DEL = { CNI_COMMAND: 'DEL', ...variables };

/** JSON as Go escapes it. */
export const escapeAsGo = (json: string): string =>
  json.replaceAll(
    new RegExp('[<>&\u2028\u2029]', 'g'),
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The output of an error. */
export const failed = (msg: string, code = 100): string =>
  escapeAsGo(`{\n    "code": ${code},\n    "msg": ${JSON.stringify(msg)}\n}`);

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

/** Listens in the directory, with a config.json beside the socket, and answers each request once it is whole. */
export async function startFakeNode(runDirectory: string): Promise<FakeNode> {
  fs.mkdirSync(runDirectory, { recursive: true });
  fs.writeFileSync(path.join(runDirectory, 'config.json'), '{"mtu":1450}');
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
    fs.rmSync(runDirectory, { recursive: true });
  };
  const node: FakeNode = { requests: [], answer: '', onConnection: () => undefined, stop };
  server.listen(path.join(runDirectory, 'socket'));
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
