import type { Pod } from '@podwire/pod-spec';

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

/** What the sandbox is told: nothing for a pod on the host's network, which keeps the host's name. */
export function sandboxHostname(pod: Pod, clusterDomain: string): string {
  if (pod.spec.hostNetwork) return '';
  const domain = pod.spec['setHostnameAsFQDN'] === true ? podDomain(pod, clusterDomain) : undefined;
  return domain === undefined ? podHostname(pod) : `${podHostname(pod)}.${domain}`;
}
