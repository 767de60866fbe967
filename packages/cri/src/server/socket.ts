/** The socket that a CRI server listens on: for its own user only, and never pushing a live server aside. */
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { CriError } from '../error.js';

/**
 * Listens on `file` with mode 0600; a directory that is missing is made with mode 0700. What a dead server left is replaced.
 * @throws CriError ALREADY_EXISTS when somebody listens there, FAILED_PRECONDITION when the place cannot be used
 */
export async function listenOn(server: net.Server, file: string): Promise<void> {
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    await removeStale(file);
    await listen(server, file);
  } catch (cause) {
    if (cause instanceof CriError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CriError('FAILED_PRECONDITION', `cannot listen on ${file}: ${why}`, { cause });
  }
}

async function removeStale(file: string): Promise<void> {
  const stats = fs.lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isSocket()) throw new Error('a file is there that is no socket');
  if (await answers(file)) throw new CriError('ALREADY_EXISTS', `another server listens on ${file}`);
  fs.rmSync(file, { force: true });
}

/** Only a refused connection shows that the owner is dead; every other answer counts as alive. */
function answers(file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(file);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'),
    );
  });
}

function listen(server: net.Server, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Between bind and chmod others could connect; listen() binds before it returns.
    const before = process.umask(0o177);
    try {
      server.listen(file, () => {
        server.off('error', reject);
        resolve();
      });
    } finally {
      process.umask(before);
    }
  });
}
