/** Reading manifests, on its own: for those who want no pod agent with it. */
export type { ConfigMap } from './config-map.js';
export { type ManifestDocument, openText, type OpenedText } from './documents.js';
export { Field, formatPath, type Path, type ReadContext, type Report, show } from './field.js';
export type { LocalPlace } from './local-defaults.js';
export { type ManifestContent, readApiPod, readManifests } from './manifests.js';
export { isLabel, labelRule, type NameRule, subdomainRule, uidRule } from './names.js';
export { type Pod, podName } from './pod.js';
export { isSysctlPattern } from './sysctl-names.js';
export { formatProblem } from './problem.js';
