export { type ApiOptions, type ApiPeer, type LocalApi, openLocalApi } from './client.js';
export { ApiError, type Failure } from './failure.js';
export {
  type ApiAnswer,
  type ApiFailure,
  type ApiHandler,
  type ApiRequest,
  type ApiRoutes,
  type ApiServer,
  type ApiServerOptions,
  serveOnPort,
  serveOnSocket,
} from './server.js';
export { type ByteBudget, createByteBudget } from './byte-budget.js';
export { readBytes, stopServers } from './http-parts.js';
export {
  type CallerWatch,
  createPluginServer,
  deliver,
  type DeliverOptions,
  type HttpAnswer,
  type PluginServerOptions,
  watchCaller,
} from './plugin-server.js';
export { requestLimits } from './patience.js';
export { splitLines } from './lines.js';
export { listenDurably, type DurableListener } from './durable-listener.js';
export { listenPrivately } from './unix-listener.js';
