export { readBootId } from './boot.js';
export {
  type CheckpointFiles,
  type CheckpointOptions,
  type CheckpointReading,
  type CheckpointStore,
  type Checksum,
  createCheckpointStore,
  fnv32a,
  jsonChecksum,
} from './checkpoint-store.js';
export { hasCode } from '@podwire/platform';
export { errnoName, SystemError } from './errno.js';
export { hasIpv6 } from './ipv6.js';
export { type LinkFeatureName, readLinkFeature, switchLinkFeature } from './link-features.js';
export { bringLinkUp } from './link-flags.js';
export { connectLocalhost } from './localhost.js';
export {
  bind,
  bindMount,
  connect,
  getSocketOption,
  lockFile,
  mountTmpfs,
  openSocketNamespace,
  receive,
  receiveFrom,
  type ReceivedMessage,
  receiveMessage,
  send,
  sendAsync,
  setSocketOption,
  socket,
  socketName,
  unmount,
  unmountLazily,
} from './libc.js';
export {
  bindAddress,
  connectAddress,
  type DatagramOptions,
  openDatagramSocket,
  openIcmpSocket,
  openStreamSocket,
  readLinkMtu,
  readPathMtu,
} from './inet-socket.js';
export { type Mount, mountsBelow, readMounts, removeTreeSync, unmountBelow } from './mounts.js';
export {
  createNamespace,
  deleteNamespace,
  inNamespace,
  type NamespaceHandle,
  type NamespaceReference,
  openNamespace,
  openOwnNamespace,
  pinNamespace,
  warmThreadPool,
} from './namespace.js';
export { endProcesses, isAlive, markProcess, type ProcessMark, startTimeOf } from './process-mark.js';
export { findProgram, isExecutable, programDirectories } from './programs.js';
export {
  countFiles,
  type EnvironmentProcess,
  killEnvironment,
  listEnvironmentProcesses,
  namespacesBelow,
} from './environment.js';
export { type MeasureLimits, measureTree, removeTree, type TreeOptions, type TreeUse } from './tree.js';
export { type PeerCredentials, peerCredentials } from './peer.js';
export { listenOnPrivateSocket, SocketInUseError, type SocketListener } from './private-socket.js';
export { type NotifierOptions, openServiceNotifier, type ServiceNotifier } from './service-notifier.js';
export { openUnixDatagram } from './unix-datagram.js';
