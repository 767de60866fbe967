import { compact } from '@podwire/platform';
import { localAnnotations } from '@podwire/pod-spec';
import { readContainerIdentity, readPodIdentity } from '../runtime-config/identity.js';
/** What is written on sandboxes and containers beside the kubelet's own words, so that a later podlet knows them. */
/** Whose it is: several podlets, or a kubelet, may share one runtime. */
export const nodeLabel = 'podwire.io/node';
export const uidLabel = 'io.kubernetes.pod.uid';
const roleAnnotation = 'podwire.io/role';
export function labelSandbox(config, pod, node) {
    return {
        ...config,
        labels: { ...config.labels, [nodeLabel]: node },
        annotations: { ...config.annotations, ...sourceOf(pod) },
    };
}
export function labelContainer(config, pod, node, role) {
    return {
        ...config,
        labels: { ...config.labels, [nodeLabel]: node },
        annotations: { ...config.annotations, ...sourceOf(pod), [roleAnnotation]: role },
    };
}
function sourceOf(pod) {
    const source = pod.metadata.annotations[localAnnotations.source];
    return source === undefined ? {} : { [localAnnotations.source]: source };
}
/** @returns undefined when it belongs to no pod */
export function readPodLabels(labels, annotations) {
    const identity = readPodIdentity(labels);
    if (identity === undefined)
        return undefined;
    const source = readSource(annotations[localAnnotations.source]);
    const grace = readContainerIdentity(labels, annotations)?.gracePeriodSeconds;
    return {
        ...identity,
        ...compact({ source, graceSeconds: grace }),
    };
}
export function readSource(text) {
    return text === 'file' || text === 'http' || text === 'api' ? text : undefined;
}
/** @returns undefined for what needs nothing special */
export function readEnd(labels, annotations) {
    const role = readRole(annotations[roleAnnotation]);
    const identity = readContainerIdentity(labels, annotations);
    if (identity?.preStop === undefined)
        return role === 'normal' ? undefined : { role, ports: [] };
    return { role, preStop: identity.preStop, ports: identity.ports };
}
function readRole(text) {
    return text === 'init' || text === 'sidecar' ? text : 'normal';
}
//# sourceMappingURL=labels.js.map