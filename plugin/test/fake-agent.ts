import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';

/** One request as it came over the socket. */
export interface Call {
  readonly raw: Buffer;
  readonly pairs: readonly string[];
  readonly input: Buffer;
}

export type Reply = (socket: net.Socket, call: Call) => void;

export interface FakeAgent {
  readonly calls: Call[];
  /** Replaced by a test that wants another behaviour from now on. */
  reply: Reply;
  readonly server: net.Server;
  stop: () => Promise<void>;
}

/** Written down from docs/decisions/0002-plugin-protocol.md, not from the plugin. */
export function parseCall(raw: Buffer): Call {
  if (raw.toString('latin1', 0, 4) !== 'PW1\0') throw new Error('the request does not begin with PW1');
  const pairs: string[] = [];
  let at = 4;
  while (raw[at] !== 0) {
    const end = raw.indexOf(0, at);
    if (end < 0) throw new Error('the environment has no end');
    pairs.push(raw.toString('utf8', at, end));
    at = end + 1;
  }
  return { raw, pairs, input: raw.subarray(at + 1) };
}

export const answer =
  (status: '0' | '1', body: string | Buffer = ''): Reply =>
  (socket) => {
    socket.write(status);
    socket.end(body);
  };

/** Collects each request up to its half-close and hands it to `reply`. `onConnection` sees the connection before that. */
export async function startFakeAgent(
  socketPath: string,
  reply: Reply,
  options: { backlog?: number; onConnection?: (socket: net.Socket) => void } = {},
): Promise<FakeAgent> {
  fs.rmSync(socketPath, { force: true });
  const open = new Set<net.Socket>();
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    const chunks: Buffer[] = [];
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => {
      const call = parseCall(Buffer.concat(chunks));
      agent.calls.push(call);
      agent.reply(socket, call);
    });
    options.onConnection?.(socket);
  });
  const stop = async (): Promise<void> => {
    for (const socket of open) socket.destroy();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  const agent: FakeAgent = { calls: [], reply, server, stop };
  server.listen({ path: socketPath, backlog: options.backlog ?? 511 });
  await once(server, 'listening');
  return agent;
}
