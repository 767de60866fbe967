export { type ApiSourceOptions, createApiSource } from './api-source.js';
export { createKubernetesClient, type KubernetesClient, KubernetesError } from './client.js';
export { createConfigMapFinder } from './config-maps.js';
export { createEventWriter, type EventWriter, type EventWriterOptions } from './event-writer.js';
export { type ClusterAccess, loadInCluster, loadKubeconfig } from './kubeconfig.js';
export { createPullSecretFinder } from './pull-secrets.js';
export { createStatusWriter, type StatusWriter, type StatusWriterOptions } from './status-writer.js';
