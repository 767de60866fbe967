export { kubernetesProgram, kubernetesVersion } from './binaries.js';
export { type PortProxy, openPortProxy } from './port-proxy.js';
export { type Kubelet, type KubeletOptions, startKubelet } from './kubelet.js';
export { type HostWithFiles, withPrivateFiles } from './private-files.js';
export { createRestClient, type RestAnswer, type RestClient } from './rest.js';
export { type ApiServer, type ApiServerOptions, startApiServer } from './api-server.js';
