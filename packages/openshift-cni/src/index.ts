export { describeFailure, renderResult } from './answer.js';
export {
  networkConfigMode,
  networkConfigName,
  type NodeConfig,
  renderNetworkConfig,
  renderNodeConfig,
  runDirectory,
  socketName,
} from './files.js';
export {
  type DecodeOptions,
  decodeRequest,
  maxRequestBytes,
  type PluginRequest,
  type PodRequest,
} from './request.js';
export { type Call, handleBy, type PluginServer, type PodHandler } from './serve.js';
export {
  type OpenshiftCniServer,
  type OpenshiftCniServerOptions,
  startOpenshiftCniServer,
} from './server.js';
