import type { Socket } from 'node:net';
import { getSocketOption } from './libc.js';

const SOL_SOCKET = 1;
const SO_PEERCRED = 17;

export interface PeerCredentials {
  pid: number;
  uid: number;
  gid: number;
}

/**
 * The process at the other end of a unix socket (unix(7), SO_PEERCRED: fixed when the peer connected).
 * Node does not offer the descriptor of an accepted pipe officially; `undefined` means it could not be had,
 * and the caller must then refuse.
 */
export function peerCredentials(socket: Socket): PeerCredentials | undefined {
  const handle = (socket as unknown as { _handle?: { fd?: number } })._handle;
  if (handle?.fd === undefined || handle.fd < 0) return undefined;
  const ucred = getSocketOption(handle.fd, SOL_SOCKET, SO_PEERCRED, 12);
  return { pid: ucred.readInt32LE(0), uid: ucred.readUInt32LE(4), gid: ucred.readUInt32LE(8) };
}
