import { type PodSandboxConfig, Protocol } from '@podwire/cri';
import { formatCgroup, podCgroupParts } from '../cgroups/names.js';
import type { BuildSandboxConfig } from '../parts.js';
import { dottedSysctl, type Pod, type PortProtocol } from '@podwire/pod-spec';
import { type DnsNode, podDns } from './dns.js';
import { sandboxHostname } from './hostname.js';
import { sandboxLabels } from './identity.js';
import { podLogDirectory } from './log-paths.js';
import { collectPorts } from './ports.js';
import { sandboxSecurity } from './security.js';

/** The sandbox of a pod. What DNS had to leave out is told by {@link podDns}. */
export const buildSandboxConfig: BuildSandboxConfig = (pod, attempt, node, directories) => ({
  metadata: { name: pod.metadata.name, namespace: pod.metadata.namespace, uid: pod.metadata.uid, attempt },
  hostname: sandboxHostname(pod, node.clusterDomain),
  logDirectory: podLogDirectory(pod, directories),
  dnsConfig: dnsConfig(pod, node),
  portMappings: collectPorts(pod).map((port) => ({
    protocol: protocols[port.protocol],
    containerPort: port.containerPort,
    hostPort: port.hostPort ?? 0,
    hostIp: port.hostIP ?? '',
  })),
  labels: sandboxLabels(pod),
  annotations: { ...pod.metadata.annotations },
  linux: {
    cgroupParent:
      node.cgroups === undefined ? '' : formatCgroup(podCgroupParts(pod, node.cgroups), node.cgroups.driver),
    securityContext: sandboxSecurity(pod, directories),
    sysctls: sysctls(pod),
  },
});

const protocols: Readonly<Record<PortProtocol, Protocol>> = {
  TCP: Protocol.TCP,
  UDP: Protocol.UDP,
  SCTP: Protocol.SCTP,
};

function dnsConfig(pod: Pod, node: DnsNode): NonNullable<PodSandboxConfig['dnsConfig']> {
  const { servers, searches, options } = podDns(pod, node);
  return { servers, searches, options };
}

function sysctls({ spec }: Pod): Record<string, string> {
  const entries = spec.securityContext.sysctls ?? [];
  return Object.fromEntries(entries.map(({ name, value }) => [dottedSysctl(name), value]));
}
