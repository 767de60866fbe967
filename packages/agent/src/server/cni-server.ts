/** The socket that plugins connect to. Knows bytes and callers; what a request means is the handler's business. */
import net, { type Socket } from 'node:net';
import { PodwireError } from '@podwire/errors';
import type { PeerCredentials } from '@podwire/linux';
import { type ByteBudget, createByteBudget, listenDurably, type DurableListener } from '@podwire/local-api';
import { compact } from '@podwire/platform';
import type { Log } from '../log.js';
import { type GiveAnswer, giveAnswer, receive, type Received } from './connection.js';

/** Answers one request by calling `answer` once. Must not reject. */
export type RequestHandler = (received: Received, answer: GiveAnswer) => Promise<void>;

/** Bytes of all requests together. A thousand usual ones are 2 MB; a thousand of the largest would be a gigabyte. */
const maxBytesAtOnce = 64 << 20;

export interface CniServerOptions {
  readonly socket: string;
  readonly maxConnections: number;
  /** Milliseconds for a request to arrive, and for its answer to be taken. */
  readonly deadline: number;
  readonly handle: RequestHandler;
  readonly peerCredentials: (socket: Socket) => PeerCredentials | undefined;
  readonly log: Log;
}

export interface CniServer {
  /** Takes no new connection, and resolves when the open ones are answered or the time (milliseconds) is over. */
  stop(deadline: number): Promise<void>;
  readonly connections: number;
}

/** @throws PodwireError AGENT_RUNNING, CONFIG_INVALID */
export async function startCniServer(options: CniServerOptions): Promise<CniServer> {
  const open = new Set<Socket>();
  const budget = createByteBudget(maxBytesAtOnce);
  const create = (): net.Server => {
    const server = net.createServer({ allowHalfOpen: true }, (socket) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      serve(socket, open.size, budget, options).catch((error: unknown) => {
        options.log.debug({ err: error }, 'a connection ended without an answer');
        socket.destroy();
      });
    });
    return server.on('error', (err) => options.log.error({ err }, 'the CNI socket failed'));
  };
  const listener = await listenDurably(create, options.socket, (err) => {
    const facts = { socket: options.socket };
    if (err === undefined) options.log.warn(facts, 'the CNI socket was deleted, and is there again');
    else options.log.error({ ...facts, err }, 'the CNI socket was deleted, and could not be made again yet');
  });
  return {
    stop: (deadline) => stop(listener, open, deadline),
    get connections() {
      return open.size;
    },
  };
}

async function serve(
  socket: Socket,
  count: number,
  budget: ByteBudget,
  options: CniServerOptions,
): Promise<void> {
  const { deadline, handle, log } = options;
  // A failed write also comes through its callback; an error event without a listener would end the process.
  socket.on('error', (err) => log.debug({ err }, 'connection failed'));
  const refusal = refuse(socket, count, options);
  const received = await receive(socket, {
    deadline,
    budget,
    ...compact({ refusal }),
  });
  await handle(received, giveAnswer(socket, deadline));
}

function refuse(socket: Socket, count: number, options: CniServerOptions): PodwireError | undefined {
  const peer = options.peerCredentials(socket);
  if (peer === undefined || (peer.uid !== 0 && peer.uid !== process.getuid?.())) {
    options.log.warn({ peer }, 'refused a caller');
    return new PodwireError('CALLER_REFUSED', `user ${peer?.uid ?? 'unknown'} may not call the agent`);
  }
  if (count <= options.maxConnections) return undefined;
  return new PodwireError('AGENT_NOT_READY', `more than ${options.maxConnections} requests at once`);
}

async function stop(listener: DurableListener, open: ReadonlySet<Socket>, deadline: number): Promise<void> {
  const closed = listener.close();
  const timer = setTimeout(() => {
    for (const socket of open) socket.destroy();
  }, deadline);
  await closed;
  clearTimeout(timer);
}
