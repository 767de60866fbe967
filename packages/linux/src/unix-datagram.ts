/** A unix datagram socket to one receiver (unix(7)): Node has stream sockets only. */
import fs from 'node:fs';
import { connect, socket } from './libc.js';

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
/** sizeof(sun_path) */
const pathBytes = 108;

/**
 * Opens a socket that sends to `address`: a path, or a name of the abstract namespace, which is written with an `@` in front.
 * @throws SystemError; Error for an address that no socket can have
 */
export function openUnixDatagram(address: string): number {
  const target = socketAddress(address);
  const fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  try {
    connect(fd, target);
    return fd;
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

/** struct sockaddr_un. An abstract name begins with NUL and ends with the length of the address, a path with NUL. */
function socketAddress(address: string): Buffer {
  const isAbstract = address.startsWith('@');
  const name = Buffer.from(isAbstract ? `\0${address.slice(1)}` : `${address}\0`);
  if (name.length < 2 || name.length > pathBytes || (!isAbstract && !address.startsWith('/')))
    throw new Error(`${JSON.stringify(address)} is no address of a unix socket`);
  const bytes = Buffer.alloc(2 + name.length);
  bytes.writeUInt16LE(AF_UNIX);
  name.copy(bytes, 2);
  return bytes;
}
