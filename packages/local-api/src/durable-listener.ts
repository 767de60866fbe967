/**
 * A listener that makes its socket file again. A deleted file (by a cleaner of temporary files, or by hand) would leave the process
 * listening where no client finds it.
 */
import fs from 'node:fs';
import type net from 'node:net';
import path from 'node:path';
import { listenPrivately } from './unix-listener.js';

export interface DurableListener {
  /** Takes no new connection, and resolves when all are closed. */
  close(): Promise<void>;
}

/** Milliseconds between attempts to make the socket again. */
const retryAfter = 5_000;

/**
 * Listens with a server of `createServer`, and with a new one when the file was deleted; connections of the first go on.
 * @param onGone called each time, with the error when the socket could not be made again yet
 * @throws as listenPrivately
 */
export async function listenDurably(
  createServer: () => net.Server,
  file: string,
  onGone: (error: unknown) => void,
): Promise<DurableListener> {
  const closing: Promise<void>[] = [];
  let current = await open(createServer, file);
  let watcher = watch(file, check);
  let isClosed = false;
  let opening: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  function check(): void {
    if (isClosed || opening !== undefined || fs.existsSync(file)) return;
    clearTimeout(timer);
    opening = reopen()
      .catch((error: unknown) => {
        onGone(error);
        timer = setTimeout(check, retryAfter).unref();
      })
      .finally(() => (opening = undefined));
  }

  async function reopen(): Promise<void> {
    const next = await open(createServer, file);
    closing.push(close(current));
    current = next;
    watcher.close(); // its directory may be deleted, too
    watcher = watch(file, check);
    onGone(undefined);
  }

  return {
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      if (opening !== undefined) await opening;
      watcher.close();
      closing.push(close(current));
      await Promise.all(closing);
    },
  };
}

async function open(createServer: () => net.Server, file: string): Promise<net.Server> {
  const server = createServer();
  await listenPrivately(server, file);
  return server;
}

const close = (server: net.Server): Promise<void> =>
  new Promise((resolve) => void server.close(() => resolve()));

/** Calls for any event in the directory; the caller checks the file. */
function watch(file: string, onChange: () => void): fs.FSWatcher {
  const name = path.basename(file);
  const watcher = fs.watch(path.dirname(file), { persistent: false }, (_event, changed) => {
    if (changed === null || changed === name || changed === path.basename(path.dirname(file))) onChange();
  });
  watcher.on('error', () => undefined); // without it the socket is as it would be without all this
  return watcher;
}
