import type { WebSocket } from 'ws';
import { codecOf } from '../websocket/channels.js';
import { type ChannelMode, createChannelConnection } from '../websocket/connection.js';
import type { Forward } from './forward.js';
import { createSharedController } from './signals.js';

/**
 * Two channels a port: data on 2n, what went wrong on 2n + 1. Each begins with the port, as two bytes, low one first. Every port is
 * joined at once, and only once.
 */
export async function servePortForwardOverWebSocket(
  ws: WebSocket,
  protocol: string,
  ports: readonly number[],
  forward: Forward,
): Promise<void> {
  const modes = ports.flatMap((): ChannelMode[] => ['both', 'write']);
  const connection = createChannelConnection(ws, codecOf(protocol), modes);
  const abort = createSharedController();
  void connection.closed.then(() => abort.abort(new Error('the client is gone')));
  const one = async (port: number, index: number): Promise<void> => {
    const data = connection.channels[2 * index]!;
    const error = connection.channels[2 * index + 1]!;
    const head = Buffer.alloc(2);
    head.writeUInt16LE(port);
    data.write(head);
    error.write(head);
    const failure = await forward(port, data, abort.signal);
    if (failure !== undefined && error.writable) error.write(failure);
    if (!data.readableEnded) data.resume();
  };
  await Promise.all(ports.map(one));
  connection.close();
  await connection.closed;
}
