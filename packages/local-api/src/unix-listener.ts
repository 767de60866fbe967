/** Listening on a unix socket that is ours alone: nobody else can reach it, and nobody live is pushed aside. */
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { describeError, PodwireError } from '@podwire/errors';
import { hasCode } from '@podwire/linux';

/** Anything that listens as `net.Server` does; an `http.Server` too. */
type Listener = Pick<net.Server, 'listen' | 'close' | 'once' | 'off'>;

const worldWritable = 0o022;
const sticky = 0o1000;

/**
 * Listens on `file` (mode 0600, in a directory that is made with mode 0700 if it is missing). A socket that a dead agent
 * left is replaced.
 * @throws PodwireError AGENT_RUNNING when somebody listens there, CONFIG_INVALID when the place is not safe or not usable
 */
export async function listenPrivately(server: Listener, file: string): Promise<void> {
  preparePlace(path.dirname(file));
  await removeStale(file);
  await listen(server, file);
}

function preparePlace(directory: string): void {
  try {
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw unusable(directory, cause);
  }
  const { mode, uid } = fs.statSync(directory);
  const safe = (mode & worldWritable) === 0 || (mode & sticky) !== 0;
  if (safe && (uid === 0 || uid === process.getuid?.())) return;
  const message = `${directory} belongs to or can be written by others, who could put their own socket there`;
  throw new PodwireError('CONFIG_INVALID', message, { details: { directory } });
}

function unusable(file: string, cause: unknown): PodwireError {
  return new PodwireError('CONFIG_INVALID', `cannot listen on ${file}: ${describeError(cause)}`, {
    cause,
    details: { socket: file },
  });
}

async function removeStale(file: string): Promise<void> {
  const stats = fs.lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isSocket()) throw unusable(file, new Error('the file is there and is no socket'));
  if (await answers(file)) {
    throw new PodwireError('AGENT_RUNNING', `another process listens on ${file}`, {
      details: { socket: file },
    });
  }
  fs.rmSync(file, { force: true });
}

/** Whether somebody listens. Refused connections are the sign of a dead owner; anything else counts as alive. */
function answers(file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(file);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => resolve(!hasCode(error, 'ECONNREFUSED', 'ENOENT')));
  });
}

function listen(server: Listener, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(unusable(file, error));
    server.once('error', fail);
    // The socket must never be there with a wider mode, not even between bind and chmod; binding is synchronous.
    const before = process.umask(0o177);
    try {
      server.listen(file, () => {
        server.off('error', fail);
        resolve();
      });
    } finally {
      process.umask(before);
    }
  });
}
