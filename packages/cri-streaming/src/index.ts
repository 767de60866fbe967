export type { ProcessStreams, StreamCall, StreamingHandlers, TerminalSize } from './handlers.js';
export { createStreamingServer, type StreamingServer, type StreamingServerOptions } from './server/server.js';
export type {
  StreamingAttachRequest,
  StreamingExecRequest,
  StreamingPortForwardRequest,
} from './server/requests.js';
export { UpgradeRefusedError, type DialOptions } from './client/dial.js';
export { openAttach, openExec, type AttachOptions, type ExecOptions } from './client/command.js';
export {
  connectPortForward,
  openPortForward,
  type PortForwarder,
  type PortForwardOptions,
} from './client/port-forward.js';
export type { StreamTarget, Transport } from './client/target.js';
