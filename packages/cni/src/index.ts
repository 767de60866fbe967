export { type CniArgs, formatCniArgs, parseCniArgs, selectCniArgs } from './args.js';
export {
  type Bandwidth,
  type DnsCapability,
  type IpRange,
  parseRuntimeConfig,
  type PortMapping,
  type RuntimeConfig,
} from './capabilities.js';
export { CniError, type CniErrorOptions, errorCodes, type ErrorDocument } from './error.js';
export { fileLimits, type JsonLimits, parseJson, requestLimits } from './json.js';
export {
  validateContainerId,
  validateInterfaceName,
  validateNetworkName,
  validatePluginType,
} from './names.js';
export {
  type Attachment,
  type AttachmentRequest,
  type Command,
  commands,
  type Environment,
  type GcRequest,
  type ParseOptions,
  parseRequest,
  parseRequestConfig,
  type Request,
  type RequestConfig,
  splitPath,
  type StatusRequest,
  type VersionRequest,
} from './request.js';
export { convertResult } from './result/convert.js';
export { readPrintedError, readPrintedResult } from './printed.js';
export { parseResult } from './result/parse.js';
export type {
  AnyResult,
  Dns,
  Interface,
  InterfaceWithDetails,
  IpConfig,
  IpConfigWithVersion,
  LegacyIpConfig,
  Result,
  Result02,
  Result04,
  Result1,
  ResultOf,
  Route,
  RouteWithAttributes,
  VersionResult,
} from './result/types.js';
export {
  type CniVersion,
  compareVersions,
  currentVersion,
  implicitVersion,
  incompatibleVersion,
  isAtLeast,
  isSupportedVersion,
  negotiateVersion,
  parseVersion,
  supportedVersions,
  type VersionChoice,
} from './version.js';
export {
  defaultConfigDirectory,
  findUsableNetwork,
  listConfigFiles,
  loadNetwork,
  loadNetworkFile,
  NetworkNotFoundError,
  type SkippedFile,
  type UsableNetwork,
} from './config/load.js';
export {
  assembleNetwork,
  type ConfigSource,
  enabledCapabilities,
  type NetworkConfig,
  parseNetwork,
  parsePlugin,
  parseSinglePlugin,
  type PluginConfig,
} from './config/network.js';
export type { Exec, PluginCall, PluginExit } from './exec/exec.js';
export { findPlugin } from './exec/lookup.js';
export { PluginError } from './exec/outcome.js';
export { createProcessExec, type ProcessExecOptions } from './exec/process-exec.js';
export {
  addWithIpam,
  delegateAdd,
  delegateCheck,
  delegateDel,
  delegateGc,
  delegateStatus,
  ipamType,
} from './plugin/delegate.js';
export { isOwnNetworkNamespace, type PluginIo, processIo, type Sink } from './plugin/io.js';
export { type Plugin, type PluginContext, runPlugin } from './plugin/run.js';
export { RollbackError } from './runtime/add.js';
export {
  type CachedAttachment,
  type CacheFiles,
  createResultCache,
  defaultCacheDirectory,
} from './runtime/cache.js';
export { deriveRequestConfig, type Injection } from './runtime/derive.js';
export { createOperationLock, type OperationLock } from './runtime/operation-lock.js';
export { createRuntime } from './runtime/runtime.js';
export type {
  AttachmentParameters,
  CallOptions,
  DelOptions,
  DelReport,
  PluginFinish,
  PluginStart,
  Runtime,
  RuntimeObserver,
  RuntimeOptions,
} from './runtime/types.js';
export type { JsonObject } from './shape.js';
export { cniToolContainerId, type CniToolIo, runCniTool } from './tool/cnitool.js';
