export { buildContainerConfig } from './container-config.js';
export { dnsLimits, podDns } from './dns.js';
export { expandVariables } from './environment.js';
export { podDomain, podHostname, sandboxHostname } from './sandbox-config.js';
export { containerAnnotations, containerNameLabel, podLabels, readContainerIdentity, readPodIdentity, } from './identity.js';
export { containerLogPath, podLogDirectory } from './sandbox-config.js';
export { collectPorts, resolvePort } from './ports.js';
export { parseResolvConf } from './dns.js';
export { qualityOfService } from './resources.js';
export { buildSandboxConfig } from './sandbox-config.js';
//# sourceMappingURL=index.js.map