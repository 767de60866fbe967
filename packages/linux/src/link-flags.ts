import fs from 'node:fs';
import { ioctlBuffer, socket } from './libc.js';

const AF_INET = 2;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const SIOCGIFFLAGS = 0x8913;
const SIOCSIFFLAGS = 0x8914;
const IFF_UP = 0x1;
/** struct ifreq: 16 bytes of name, then a union whose first two bytes are the flags. */
const IFREQ_BYTES = 40;
const FLAGS_OFFSET = 16;

/**
 * Brings a link of the calling thread's network namespace up, synchronously (netdevice(7)); one that is up stays as it is. For
 * the one link that needs no netlink connection, `lo`.
 * @throws SystemError `ENODEV` when there is none of this name
 */
export function bringLinkUp(name: string): void {
  const fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  try {
    const request = Buffer.alloc(IFREQ_BYTES);
    request.write(name, 0, FLAGS_OFFSET - 1, 'latin1');
    ioctlBuffer(fd, SIOCGIFFLAGS, request);
    const flags = request.readUInt16LE(FLAGS_OFFSET);
    if ((flags & IFF_UP) !== 0) return;
    request.writeUInt16LE(flags | IFF_UP, FLAGS_OFFSET);
    ioctlBuffer(fd, SIOCSIFFLAGS, request);
  } finally {
    fs.closeSync(fd);
  }
}
