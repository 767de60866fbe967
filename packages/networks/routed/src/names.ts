import { type Endpoint, endpointKey } from '@podwire/network-contract';
import { digestName, podLinkPrefix } from '@podwire/network-traffic';

/** The interface that carries a pod's default route; others are further interfaces. */
export const primaryInterface = 'eth0';

/**
 * The host side's name. The first interface of a Kubernetes pod follows Calico's rule, `cali` and 11 digits of
 * SHA-1("<namespace>.<pod>"), by which people and programs find it. That rule knows one interface and one sandbox of a pod, and
 * its rule for others (11 characters of the container id) makes ids with a common beginning collide. So everything else
 * takes the digest of the endpoint's whole identity; the comma in it cannot occur in a pod's name.
 */
export function hostLinkName({ id, pod, nameTaken = false }: Endpoint): string {
  const calico = pod.namespace && pod.name && id.ifName === primaryInterface && !nameTaken;
  return digestName(podLinkPrefix, calico ? `${pod.namespace}.${pod.name}` : endpointKey(id));
}
