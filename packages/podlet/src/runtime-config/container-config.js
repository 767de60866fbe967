import { buildEnvironment, expandVariables } from './environment.js';
import { buildContainerAnnotations, containerLabels } from './identity.js';
import { containerLogPath } from './sandbox-config.js';
import { toMount } from './mounts.js';
import { containerLimits } from './resources.js';
import { containerSecurity } from './security.js';
export const buildContainerConfig = (request) => {
    const { pod, container, attempt, recursiveReadOnly = false } = request;
    const environment = environmentOf(request);
    const expand = (text) => expandVariables(text, (name) => environment.get(name));
    return {
        metadata: { name: container.name, attempt },
        image: {
            image: request.imageRef,
            annotations: {},
            userSpecifiedImage: container.image,
            runtimeHandler: '',
        },
        command: (container.command ?? []).map(expand),
        args: (container.args ?? []).map(expand),
        workingDir: container.workingDir ?? '',
        envs: [...environment].map(([key, value]) => ({ key, value })),
        mounts: buildMounts(request).map((mount) => toMount(mount, { container, recursiveReadOnly })),
        devices: [],
        CDIDevices: [],
        labels: containerLabels(pod, container),
        annotations: buildContainerAnnotations(pod, container, attempt),
        logPath: containerLogPath(container.name, attempt),
        stdin: container.stdin,
        stdinOnce: container.stdinOnce,
        tty: container.tty,
        linux: linuxConfig(request),
    };
};
function environmentOf({ pod, container, prepared, addresses, node, }) {
    return buildEnvironment(container, {
        pod,
        addresses,
        nodeName: node.name,
        nodeAddresses: node.addresses,
        configMaps: prepared.configMaps,
    });
}
/** A volume that the manifest mounts at one of the managed places has precedence. */
function buildMounts({ container, prepared, hostsFile, terminationLog, }) {
    const volumes = prepared.mounts.get(container.name) ?? [];
    const managed = [
        ...(hostsFile === undefined ? [] : [managedFile(hostsFile, '/etc/hosts')]),
        ...(terminationLog === undefined ? [] : [managedFile(terminationLog, container.terminationMessagePath)]),
    ];
    const taken = new Set(volumes.map(({ containerPath }) => withoutSlash(containerPath)));
    return [...volumes, ...managed.filter(({ containerPath }) => !taken.has(withoutSlash(containerPath)))];
}
function managedFile(hostPath, containerPath) {
    return { hostPath, containerPath, readOnly: false };
}
function withoutSlash(path) {
    return path.replace(/(?<=.)\/+$/, '');
}
function linuxConfig({ pod, container, node, imageUser, directories, }) {
    const limits = containerLimits(pod, container, node);
    return {
        resources: {
            cpuPeriod: limits.cpuPeriod,
            cpuQuota: limits.cpuQuota,
            cpuShares: limits.cpuShares,
            memoryLimitInBytes: limits.memoryBytes,
            oomScoreAdj: limits.oomScoreAdjustment,
            cpusetCpus: '',
            cpusetMems: '',
            hugepageLimits: [],
            unified: {},
            memorySwapLimitInBytes: 0n,
        },
        securityContext: containerSecurity(pod, container, imageUser, directories),
    };
}
//# sourceMappingURL=container-config.js.map