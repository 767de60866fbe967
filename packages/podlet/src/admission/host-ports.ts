import { formatAddress, tryParseAddress } from '@podwire/addresses';
import { isSidecar, type Pod, podName } from '@podwire/pod-spec';

export interface HostPort {
  readonly protocol: string;
  readonly port: number;
  /** Empty: every address of the node. */
  readonly address: string;
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
  const { initContainers, containers } = pod.spec;
  return [...initContainers.filter(isSidecar), ...containers].flatMap(({ ports }) =>
    ports.flatMap(({ protocol, hostPort, hostIP = '' }) =>
      hostPort === undefined
        ? []
        : [{ protocol, port: hostPort, address: plainAddress(hostIP), owner: podName(pod) }],
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
  return one.address === '' || other.address === '' || one.address === other.address;
}

/** `::` takes connections of both families where the kernel's default holds. */
function plainAddress(address: string): string {
  if (address === '0.0.0.0' || address === '::') return '';
  const parsed = tryParseAddress(address);
  return parsed === undefined ? address : formatAddress(parsed);
}
