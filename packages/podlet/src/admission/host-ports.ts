import { type Family, formatAddress, tryParseAddress } from '@podwire/addresses';
import { isSidecar, type Pod, podName } from '@podwire/pod-spec';

export interface HostPort {
  readonly protocol: string;
  readonly port: number;
  /** Absent: both. */
  readonly family?: Family;
  /** Absent: every address of the node, of that family. */
  readonly address?: string;
  readonly owner: string;
}

const known = new WeakMap<object, readonly HostPort[]>();

/** Those that are taken for as long as the pod runs: plain init containers come before, and give theirs back. */
export function hostPortsOf(pod: Pick<Pod, 'metadata' | 'spec'>): readonly HostPort[] {
  const ports = known.get(pod) ?? readHostPorts(pod);
  known.set(pod, ports);
  return ports;
}

function readHostPorts(pod: Pick<Pod, 'metadata' | 'spec'>): HostPort[] {
  const { initContainers, containers, hostNetwork } = pod.spec;
  return [...initContainers.filter(isSidecar), ...containers].flatMap(({ ports }) =>
    ports.flatMap(({ protocol, hostPort, hostIP = '' }) =>
      hostPort === undefined
        ? []
        : [{ protocol, port: hostPort, ...placeOf(hostIP, hostNetwork), owner: podName(pod) }],
    ),
  );
}

/** The port that another pod has already. */
export function findTaken(wanted: readonly HostPort[], taken: readonly HostPort[]): HostPort | undefined {
  return taken.find((one) => wanted.some((other) => overlap(one, other)));
}

/** On all addresses, and so on each of them; or on the same one. */
function overlap(one: HostPort, other: HostPort): boolean {
  if (one.protocol !== other.protocol || one.port !== other.port) return false;
  if (one.family !== undefined && other.family !== undefined && one.family !== other.family) return false;
  return one.address === undefined || other.address === undefined || one.address === other.address;
}

/**
 * Ports are forwarded by family, so `0.0.0.0` and `::` are all addresses of one. A program on the node's own network that listens
 * on `::` takes connections of both where the kernel's default holds.
 */
function placeOf(hostIP: string, hostNetwork: boolean): Pick<HostPort, 'family' | 'address'> {
  if (hostIP === '' || (hostNetwork && hostIP === '::')) return {};
  const parsed = tryParseAddress(hostIP);
  if (parsed === undefined) return { address: hostIP };
  const { family, value } = parsed;
  return value === 0n ? { family } : { family, address: formatAddress(parsed) };
}
