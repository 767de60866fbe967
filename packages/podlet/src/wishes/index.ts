export { buildContainerConfig } from './container-config.js';
export { dnsLimits, type DnsNode, type PodDns, podDns } from './dns.js';
export { expandVariables } from './expand.js';
export { podDomain, podHostname, sandboxHostname } from './hostname.js';
export {
  containerAnnotations,
  type ContainerIdentity,
  containerNameLabel,
  type PodIdentity,
  podLabels,
  readContainerIdentity,
  readPodIdentity,
} from './identity.js';
export { containerLogPath, podLogDirectory } from './log-paths.js';
export { collectPorts, resolvePort } from './ports.js';
export { type DnsSettings, parseResolvConf } from './resolv-conf.js';
export { type QualityOfService, qualityOfService } from './resources.js';
export { buildSandboxConfig } from './sandbox-config.js';
