import type { Container, ContainerPort, Pod } from '@podwire/pod-spec';
/**
 * The ports that the sandbox's network is told of: those of all containers, each once. Twice is the same name in one container,
 * or the same family, protocol, host address and numbers anywhere. None on the host's network, where every port is the host's.
 */
export declare function collectPorts(pod: Pod): readonly ContainerPort[];
/** The number of a port that is given by number or by the name of one of the container's. */
export declare function resolvePort(container: Pick<Container, 'ports'>, port: number | string): number | undefined;
//# sourceMappingURL=ports.d.ts.map