/** A unix socket that no other user can reach or replace. A socket that another process still listens on is not removed. */
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { hasCode } from '@podwire/platform';
import { bind, socket } from './libc.js';

/** Anything that listens as `net.Server` does; an `http.Server` too. */
export type SocketListener = Pick<net.Server, 'listen' | 'close' | 'once' | 'off'>;

/** Another process listens there. */
export class SocketInUseError extends Error {
  constructor(file: string) {
    super(`another process listens on ${file}`);
    this.name = 'SocketInUseError';
  }
}

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
/** sizeof(sun_path) (unix(7)), less the NUL at its end */
const longestPath = 107;

const writableByOthers = 0o022;
const sticky = 0o1000;
/** As many as the kernel follows (path_resolution(7)). */
const mostLinks = 40;

/**
 * Listens on `file` with mode 0600; directories that are missing are made with mode 0700. What a dead process left is replaced.
 * The file goes with the server, unless it is another one's by then.
 * @throws SocketInUseError when another process listens there; Error when the place is not safe or not usable
 */
export async function listenOnPrivateSocket(server: SocketListener, file: string): Promise<void> {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  checkPlace(path.dirname(path.resolve(file)));
  await removeStale(file);
  await listen(server, file);
}

/**
 * A user who can write a directory of the path can replace what is below it. As sshd's StrictModes: all of them belong to root or
 * us and are writable by no one else, except those with the sticky bit, such as /tmp.
 * @throws Error that names the directory
 */
export function checkPlace(directory: string, links = 0): void {
  if (links > mostLinks) throw new Error(`${directory}: too many links`);
  for (const each of waysTo(directory)) {
    const stats = fs.lstatSync(each);
    if (stats.uid !== 0 && stats.uid !== process.getuid?.()) throw unsafe(each);
    if (stats.isSymbolicLink()) {
      const target = path.resolve(path.dirname(each), fs.readlinkSync(each));
      return checkPlace(path.join(target, path.relative(each, directory)), links + 1);
    }
    if ((stats.mode & writableByOthers) !== 0 && (stats.mode & sticky) === 0) throw unsafe(each);
  }
}

/** `/`, `/run`, `/run/podwire` */
function waysTo(directory: string): string[] {
  const parent = path.dirname(directory);
  return parent === directory ? [directory] : [...waysTo(parent), directory];
}

function unsafe(directory: string): Error {
  return new Error(
    `${directory} belongs to or can be written by others, who could put their own socket or directory there`,
  );
}

async function removeStale(file: string): Promise<void> {
  const stats = fs.lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isSocket()) throw new Error('the file is there and is no socket');
  if (await answers(file)) throw new SocketInUseError(file);
  fs.rmSync(file, { force: true });
}

/** True if a process listens. A refused connection means that the owner has died; anything else counts as alive. */
function answers(file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const client = net.connect(file);
    client.once('connect', () => {
      client.destroy();
      resolve(true);
    });
    client.once('error', (error) => resolve(!hasCode(error, 'ECONNREFUSED', 'ENOENT')));
  });
}

function listen(server: SocketListener, file: string): Promise<void> {
  const fd = bindPrivately(file);
  const { ino } = fs.lstatSync(file);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('close', () => removeOwn(file, ino));
    server.listen({ fd }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/**
 * The file has the mode that the socket has when it is bound (net/unix/af_unix.c), so it is never there with a wider one, and the
 * umask, which is that of all threads of the process, stays as it is.
 */
function bindPrivately(file: string): number {
  const name = Buffer.from(file);
  if (name.length > longestPath) throw new Error(`the path is longer than ${longestPath} bytes`);
  const address = Buffer.alloc(2 + name.length + 1);
  address.writeUInt16LE(AF_UNIX);
  name.copy(address, 2);
  const fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  try {
    fs.fchmodSync(fd, 0o600);
    bind(fd, address);
    return fd;
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

function removeOwn(file: string, ino: number): void {
  try {
    if (fs.lstatSync(file).ino === ino) fs.unlinkSync(file);
  } catch {
    // It was removed already.
  }
}
