const plainFields = {
    'metadata.name': ({ pod }) => pod.metadata.name,
    'metadata.namespace': ({ pod }) => pod.metadata.namespace,
    'metadata.uid': ({ pod }) => pod.metadata.uid,
    'spec.nodeName': ({ nodeName }) => nodeName,
    'spec.serviceAccountName': ({ pod }) => textOf(pod.spec['serviceAccountName']),
    'status.hostIP': ({ nodeAddresses }) => nodeAddresses[0] ?? '',
    'status.hostIPs': ({ nodeAddresses }) => nodeAddresses.join(','),
    'status.podIP': (facts) => podAddresses(facts)[0] ?? '',
    'status.podIPs': (facts) => podAddresses(facts).join(','),
};
function textOf(value) {
    return typeof value === 'string' ? value : '';
}
/** A pod on the host's network has the host's addresses. */
function podAddresses({ pod, addresses, nodeAddresses }) {
    return pod.spec.hostNetwork && addresses.length === 0 ? nodeAddresses : addresses;
}
/**
 * The value of a `fieldRef` in a container's environment (Kubernetes API, EnvVarSource). A label or annotation that the
 * pod does not have is empty.
 * @returns undefined when there is no such field
 */
export function readField(fieldPath, facts) {
    const keyed = /^metadata\.(labels|annotations)\['([^']+)'\]$/.exec(fieldPath);
    if (keyed !== null) {
        const entries = facts.pod.metadata[keyed[1]];
        return Object.hasOwn(entries, keyed[2]) ? entries[keyed[2]] : '';
    }
    return Object.hasOwn(plainFields, fieldPath) ? plainFields[fieldPath](facts) : undefined;
}
//# sourceMappingURL=downward.js.map