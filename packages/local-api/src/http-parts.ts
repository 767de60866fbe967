/** Parts that every HTTP server on a socket of this machine needs. */
import type http from 'node:http';
import type { PeerCredentials } from '@podwire/linux';

/** True if the caller is root or the server's own user. */
export function isOwnCaller(peer: PeerCredentials | undefined): boolean {
  return peer !== undefined && (peer.uid === 0 || peer.uid === process.getuid?.());
}

/**
 * Reads a body of so many bytes at most. One that is too large is read to its end all the same, or its sender would not get
 * to see the answer; then there are no bytes.
 */
export async function readBytes(request: http.IncomingMessage, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= most) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size <= most ? Buffer.concat(chunks) : undefined;
}

/**
 * Ends idle connections, and after so many milliseconds the others.
 * @param close takes no new connection, and resolves when all are closed
 */
export async function stopServers(
  servers: readonly http.Server[],
  close: () => Promise<void>,
  milliseconds: number,
): Promise<void> {
  const closed = close();
  for (const server of servers) server.closeIdleConnections();
  const timer = setTimeout(() => {
    for (const server of servers) server.closeAllConnections();
  }, milliseconds);
  await closed;
  clearTimeout(timer);
}
