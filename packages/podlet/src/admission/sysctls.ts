/** The sysctls that a pod may set: those that cannot harm other pods, and those that the node's owner allows. */
import { dottedSysctl, type Pod, sysctlOwner } from '@podwire/pod-spec';

/** Kubernetes' list (pkg/kubelet/sysctl, safe_sysctls.go): namespaced, and isolated between pods. */
const safe: readonly string[] = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
];

/** @returns what is wrong with the first one that the pod must not set */
export function findForbiddenSysctl(
  { spec }: Pick<Pod, 'spec'>,
  allowed: readonly string[],
): string | undefined {
  for (const { name: written } of spec.securityContext.sysctls ?? []) {
    const name = dottedSysctl(written);
    const owner = sysctlOwner(name, spec);
    if (owner !== undefined) return `forbidden sysctl: "${name}" belongs to the node: ${owner}`;
    if (safe.includes(name) || allowed.some((pattern) => isMatch(name, dottedSysctl(pattern)))) continue;
    return `forbidden sysctl: "${name}" not allowlisted; the node may allow it (--allowed-unsafe-sysctls)`;
  }
  return undefined;
}

function isMatch(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
