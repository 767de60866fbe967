import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { onAbort } from './abort.js';
import { hasCode } from './files.js';

/**
 * Joins a client's stream to a connection until the server has sent all: data that the client still has find no reader then, and
 * a client that waits for the end hears of it at once. A client that has sent all may still listen, so its end only ends its half.
 * Afterwards the connection is destroyed and the stream has ended towards the client.
 * @throws the signal's reason, or the connection's error, unless that is one of a server that has gone without reading
 */
export async function joinConnection(
  stream: Readable & Writable,
  connection: Socket,
  signal: AbortSignal,
): Promise<void> {
  const end = (): void => void connection.destroy();
  const unsubscribe = onAbort(signal, end);
  stream.once('close', end);
  stream.pipe(connection);
  connection.pipe(stream, { end: false });
  try {
    await untilServerIsDone(connection);
  } finally {
    unsubscribe();
    stream.off('close', end);
    stream.unpipe(connection);
    connection.destroy();
  }
  signal.throwIfAborted();
  await endOf(stream);
}

function untilServerIsDone(connection: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.once('end', resolve);
    connection.once('close', resolve);
    connection.on('error', (error) => (hasCode(error, 'ECONNRESET', 'EPIPE') ? resolve() : reject(error)));
  });
}

/** A client that is gone has no end to wait for. */
function endOf(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) resolve();
    stream.once('close', resolve);
    stream.end(resolve);
  });
}
