export { buildContainerConfig } from './container-config.js';
export { dnsLimits, type DnsNode, type PodDns, podDns } from './dns.js';
export { expandVariables } from './environment.js';
export { podDomain, podHostname, sandboxHostname } from './sandbox-config.js';
export { containerAnnotations, type ContainerIdentity, containerNameLabel, type PodIdentity, podLabels, readContainerIdentity, readPodIdentity, } from './identity.js';
export { containerLogPath, podLogDirectory } from './sandbox-config.js';
export { collectPorts, resolvePort } from './ports.js';
export { type DnsSettings, parseResolvConf } from './dns.js';
export { type QualityOfService, qualityOfService } from './resources.js';
export { buildSandboxConfig } from './sandbox-config.js';
//# sourceMappingURL=index.d.ts.map