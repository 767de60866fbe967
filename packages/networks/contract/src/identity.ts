/** The attachment's identity in the CNI specification: container, interface, network. */
export interface EndpointId {
  readonly containerId: string;
  readonly ifName: string;
  readonly network: string;
}

export interface LeaseRecord {
  /** Text, without a length. */
  readonly address: string;
  readonly pool: string;
}

/** Identity of the pod, as far as the runtime sent it (K8S_POD_* of CNI_ARGS); empty outside Kubernetes. */
export interface PodIdentity {
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
}

/** The key of an endpoint, also its owner id and record name: `network,containerId,ifName` (none may hold a comma). */
export function endpointKey(id: EndpointId): string {
  return `${id.network},${id.containerId},${id.ifName}`;
}
