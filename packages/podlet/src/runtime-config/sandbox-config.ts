import { type PodSandboxConfig, Protocol } from '@podwire/cri';
import { formatCgroup, podCgroupParts } from '../cgroups/names.js';
import type { BuildSandboxConfig } from '../parts.js';
import { dottedSysctl, type Pod, type PortProtocol } from '@podwire/pod-spec';
import { type DnsNode, podDns } from './dns.js';
import { sandboxLabels } from './identity.js';
import { collectPorts } from './ports.js';
import { sandboxSecurity } from './security.js';
import type { PodletDirectories } from '../contract.js';

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
  annotations: { ...pod.metadata.annotations, [factsAnnotation]: describeFacts(pod) },
  linux: {
    cgroupParent:
      node.cgroups === undefined ? '' : formatCgroup(podCgroupParts(pod, node.cgroups), node.cgroups.driver),
    securityContext: sandboxSecurity(pod, directories),
    sysctls: sysctls(pod),
  },
});

/**
 * Tells the network's agent what policy selects the pod by. Annotations reach CNI through every runtime; labels do not. Overwrites
 * what a manifest may say under this name.
 */
const factsAnnotation = 'podwire.io/pod-facts';

function describeFacts(pod: Pod): string {
  const ports = collectPorts(pod).flatMap(({ name, protocol, containerPort }) =>
    name === undefined ? [] : [{ name, protocol: protocol.toLowerCase(), port: containerPort }],
  );
  const { serviceAccountName: serviceAccount = 'default' } = pod.spec;
  return JSON.stringify({ labels: pod.metadata.labels, ports, serviceAccount });
}

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

/** `<logs>/<namespace>_<name>_<uid>`, as log collectors expect it. Underscores are in none of the three. */
export function podLogDirectory({ metadata }: Pod, { logs }: Pick<PodletDirectories, 'logs'>): string {
  return `${logs}/${metadata.namespace}_${metadata.name}_${metadata.uid}`;
}

/** Below the pod's directory. */
export function containerLogPath(containerName: string, attempt: number): string {
  return `${containerName}/${attempt}.log`;
}

/** Linux allows 64; DNS labels 63, and a pod's name may be longer. */
const longestHostname = 63;

/** The host name that a pod sees: `spec.hostname`, else its name, cut to what a host name may be. */
export function podHostname(pod: Pod): string {
  const wanted = pod.spec.hostname ?? pod.metadata.name;
  return wanted.slice(0, longestHostname).replace(/[-.]+$/, '');
}

/** The domain of a pod with a subdomain; undefined without. */
export function podDomain(pod: Pod, clusterDomain: string): string | undefined {
  if (pod.spec.subdomain === undefined || pod.spec.subdomain === '') return undefined;
  return [pod.spec.subdomain, pod.metadata.namespace, 'svc', clusterDomain].filter(Boolean).join('.');
}

/** The hostname of the sandbox: none for a pod on the host's network, which keeps the host's name. */
export function sandboxHostname(pod: Pod, clusterDomain: string): string {
  if (pod.spec.hostNetwork) return '';
  const domain = pod.spec['setHostnameAsFQDN'] === true ? podDomain(pod, clusterDomain) : undefined;
  return domain === undefined ? podHostname(pod) : `${podHostname(pod)}.${domain}`;
}
