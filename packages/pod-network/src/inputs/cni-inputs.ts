/**
 * From a pod to what a container runtime hands to CNI: the one place that knows how kubelet and containerd do it
 * (`CNI_ARGS`, capability arguments of the CNI conventions).
 */
import type { Bandwidth, CniArgs, DnsCapability, JsonObject, PortMapping } from '@podwire/cni';
import { compact } from '@podwire/platform';

/** A pod as far as its network goes. */
export interface CniPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly portMappings: readonly PortMapping[];
  readonly bandwidth?: Bandwidth;
  readonly dns?: DnsCapability;
  readonly cgroupPath?: string;
  /** Ranges of this node, one for each address family. */
  readonly podCidrs?: readonly string[];
}

/** The arguments that a runtime passes with an ADD. Each plugin gets only the capabilities that it asks for. */
export interface CniInputs {
  readonly args: CniArgs;
  readonly capabilityArgs: JsonObject;
}

/** Name of the capability by which containerd and CRI-O pass annotations. */
const annotationsCapability = 'io.kubernetes.cri.pod-annotations';

/** Arguments in kubelet's order; `K8S_POD_UID` last, where newer runtimes put it. */
export function toCniInputs(pod: CniPod, containerId: string): CniInputs {
  return {
    args: [
      ['IgnoreUnknown', '1'],
      ['K8S_POD_NAMESPACE', pod.namespace],
      ['K8S_POD_NAME', pod.name],
      ['K8S_POD_INFRA_CONTAINER_ID', containerId],
      ...(pod.uid === undefined || pod.uid === '' ? [] : [['K8S_POD_UID', pod.uid] as const]),
    ],
    capabilityArgs: toCapabilityArgs(pod),
  };
}

/** Empty values are left out, as containerd does. */
function toCapabilityArgs(pod: CniPod): JsonObject {
  const { bandwidth, annotations, cgroupPath = '', podCidrs = [] } = pod;
  const portMappings = pod.portMappings.filter(({ hostPort }) => hostPort > 0);
  const dns = withoutEmptyLists(pod.dns);
  return {
    ...(portMappings.length === 0 ? {} : { portMappings: portMappings.map(toPlainMapping) }),
    ...compact({ bandwidth }),
    ...(podCidrs.length === 0 ? {} : { ipRanges: podCidrs.map((subnet) => [{ subnet }]) }),
    ...(Object.keys(dns).length === 0 ? {} : { dns }),
    ...(Object.keys(annotations).length === 0 ? {} : { [annotationsCapability]: annotations }),
    ...(cgroupPath === '' ? {} : { cgroupPath }),
  };
}

function toPlainMapping({ hostPort, containerPort, protocol, hostIP = '' }: PortMapping): PortMapping {
  return { hostPort, containerPort, protocol, ...(hostIP === '' ? {} : { hostIP }) };
}

function withoutEmptyLists(dns: DnsCapability = {}): DnsCapability {
  const { servers, searches, options } = dns;
  const lists = { servers, searches, options };
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => (list ?? []).length > 0));
}
