import { createBackOff } from '../lifecycle/back-off.js';
import { localAnnotations, podName } from '@podwire/pod-spec';
import { createPodEvents } from './pod-events.js';
import { createPodTrace } from './pod-trace.js';
import { randomBytes } from 'node:crypto';
import { readSource } from '../runtime/labels.js';
export function createWorkerState(dependencies, request) {
    const { settings } = dependencies;
    const { pod, times, orphan } = request;
    return {
        uid: pod.metadata.uid,
        source: readSource(pod.metadata.annotations[localAnnotations.source]),
        orphan,
        pod,
        kill: undefined,
        removed: false,
        successor: undefined,
        arrivedAt: times.arrivedAt,
        stage: 'waiting',
        status: pod.status,
        waiting: new Map(),
        interrupted: new Set(),
        admission: 'undecided',
        blocked: undefined,
        sandboxProblem: undefined,
        failure: undefined,
        ended: false,
        gone: false,
        restarts: createBackOff(settings.restartBackOff),
        images: new Map(),
        imagePauses: createBackOff(settings.imageBackOff),
        events: createPodEvents(),
        trace: beginTrace(dependencies, request),
        attemptFloor: 0,
        conflicts: 0,
        watched: new Map(),
        stale: false,
        initPoll: undefined,
        terminationMessages: new Map(),
    };
}
function beginTrace(dependencies, { pod, times }) {
    const { tracer, record, preciseNow } = dependencies;
    const trace = createPodTrace({
        tracer,
        record,
        now: preciseNow,
        random: randomBytes,
        name: `pod ${podName(pod)}`,
        startedAt: times.causedAt,
    });
    trace.past('source', times.causedAt, times.mergedAt);
    trace.past('merge', times.mergedAt, times.arrivedAt);
    return trace;
}
/** Enough of a pod to take it down: what was written on its sandboxes and containers. */
export function orphanPod(labels) {
    const annotations = labels.source === undefined ? {} : { [localAnnotations.source]: labels.source };
    return {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: labels.name, namespace: labels.namespace, uid: labels.uid, labels: {}, annotations },
        spec: { ...emptySpec, terminationGracePeriodSeconds: labels.graceSeconds ?? defaultGraceSeconds },
        status: {
            phase: 'Unknown',
            conditions: [],
            podIPs: [],
            initContainerStatuses: [],
            containerStatuses: [],
        },
    };
}
/** The API's. */
const defaultGraceSeconds = 30;
const emptySpec = {
    terminationGracePeriodSeconds: defaultGraceSeconds,
    containers: [],
    initContainers: [],
    volumes: [],
    restartPolicy: 'Never',
    dnsPolicy: 'Default',
    hostAliases: [],
    hostNetwork: false,
    hostPID: false,
    hostIPC: false,
    shareProcessNamespace: false,
    nodeName: '',
    securityContext: {},
    imagePullSecrets: [],
};
//# sourceMappingURL=worker-state.js.map