export { type ClientOptions, isAboutAnother, KubernetesClient, KubernetesError } from './client.js';
export { type ApiObject, type InformerOptions, runInformer } from './informer.js';
export { type ClusterAccess, loadInCluster, loadKubeconfig } from './kubeconfig.js';
