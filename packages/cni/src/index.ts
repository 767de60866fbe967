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
