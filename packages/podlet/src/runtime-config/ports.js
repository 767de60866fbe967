/** One after the other runs, or beside the others: an init container that is a sidecar has ports, too. */
function containersWithPorts({ spec }) {
    return [
        ...spec.initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always'),
        ...spec.containers,
    ];
}
/**
 * The ports that the sandbox's network is told of: those of all containers, each once. Twice is the same name in one container,
 * or the same family, protocol, host address and numbers anywhere. None on the host's network, where every port is the host's.
 */
export function collectPorts(pod) {
    if (pod.spec.hostNetwork)
        return [];
    const seen = new Set();
    return containersWithPorts(pod).flatMap((container) => container.ports.filter((port) => {
        const keys = [numericKey(port), ...(port.name ? [`${container.name}/${port.name}`] : [])];
        const isNew = keys.every((key) => !seen.has(key));
        for (const key of keys)
            seen.add(key);
        return isNew;
    }));
}
function numericKey({ protocol, hostIP = '', containerPort, hostPort = 0 }) {
    const family = hostIP === '' ? 'any' : hostIP.includes(':') ? 'v6' : 'v4';
    return `${family}-${protocol}-${hostIP}-${containerPort}-${hostPort}`;
}
/** The number of a port that is given by number or by the name of one of the container's. */
export function resolvePort(container, port) {
    if (typeof port === 'number')
        return port;
    const named = container.ports.find(({ name }) => name === port)?.containerPort;
    return named ?? (/^\d{1,5}$/.test(port) ? Number(port) : undefined);
}
//# sourceMappingURL=ports.js.map