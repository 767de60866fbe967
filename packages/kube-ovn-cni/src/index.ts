export {
  conflistMode,
  conflistName,
  defaultSocket,
  removeConflist,
  renderConflist,
  writeConflist,
} from './conflist.js';
export {
  type CniRequest,
  maxRequestBytes,
  type Operation,
  readCniRequest,
  renderCniRequest,
  type Route,
} from './request.js';
export {
  type CniResponse,
  errorResponse,
  type Protocol,
  readCniResponse,
  renderCniResponse,
} from './response.js';
export { type PluginVersion, pluginVersions, toCniResponse, toCniResult } from './result.js';
export type { KubeOvnHandlers } from './serve.js';
export { type KubeOvnCniOptions, type KubeOvnCniServer, serveKubeOvnCni } from './server.js';
