/**
 * A listener whose socket file comes back. A file that is deleted (by a cleaner of temporary files, or by hand) leaves the process
 * listening where no program finds it.
 */
import fs from 'node:fs';
import path from 'node:path';
import { listenPrivately } from './unix-listener.js';
/** Milliseconds until a socket that could not be made again is tried once more. */
const retryAfter = 5_000;
/**
 * Listens with a server of `createServer`, and with another one when the file is gone; connections of the first go on.
 * @param onGone told each time, with the error when the socket could not be made again yet
 * @throws as listenPrivately
 */
export async function listenDurably(createServer, file, onGone) {
  const closing = [];
  let current = await open(createServer, file);
  let watcher = watch(file, check);
  let isClosed = false;
  let opening;
  let timer;
  function check() {
    if (isClosed || opening !== undefined || fs.existsSync(file)) return;
    clearTimeout(timer);
    opening = reopen()
      .catch((error) => {
        onGone(error);
        timer = setTimeout(check, retryAfter).unref();
      })
      .finally(() => (opening = undefined));
  }
  async function reopen() {
    const next = await open(createServer, file);
    closing.push(close(current));
    current = next;
    watcher.close(); // its directory may be gone, too
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
async function open(createServer, file) {
  const server = createServer();
  await listenPrivately(server, file);
  return server;
}
const close = (server) => new Promise((resolve) => void server.close(() => resolve()));
/** Told of anything in the directory; those that watch look at the file themselves. */
function watch(file, onChange) {
  const name = path.basename(file);
  const watcher = fs.watch(path.dirname(file), { persistent: false }, (_event, changed) => {
    if (changed === null || changed === name || changed === path.basename(path.dirname(file))) onChange();
  });
  watcher.on('error', () => undefined); // without it the socket is as it would be without all this
  return watcher;
}
//# sourceMappingURL=durable-listener.js.map
