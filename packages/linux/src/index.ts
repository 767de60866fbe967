export { errnoName, hasCode, SystemError } from './errno.js';
export {
  bind,
  connect,
  getSocketOption,
  lockFile,
  receive,
  receiveFrom,
  send,
  sendAsync,
  setSocketOption,
  socket,
} from './libc.js';
export {
  createNamespace,
  deleteNamespace,
  inNamespace,
  type NamespaceHandle,
  openNamespace,
  openOwnNamespace,
  warmThreadPool,
} from './namespace.js';
export { type PeerCredentials, peerCredentials } from './peer.js';
