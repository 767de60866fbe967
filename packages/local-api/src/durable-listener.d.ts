import type net from 'node:net';
export interface DurableListener {
  /** Takes no new connection, and resolves when all are closed. */
  close(): Promise<void>;
}
/**
 * Listens with a server of `createServer`, and with another one when the file is gone; connections of the first go on.
 * @param onGone told each time, with the error when the socket could not be made again yet
 * @throws as listenPrivately
 */
export declare function listenDurably(
  createServer: () => net.Server,
  file: string,
  onGone: (error: unknown) => void,
): Promise<DurableListener>;
//# sourceMappingURL=durable-listener.d.ts.map
