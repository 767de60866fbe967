/** The project of a pod, by its namespace. */
import { PodwireError } from '@podwire/errors';
import type { Attachment, NetworkView, PodIdentity } from '@podwire/network-contract';
import { globalVnid } from '@podwire/objects/vnid';
import type { Read } from '@podwire/planner';
import { optionsOf } from '../options.js';

/** A NetNamespace of OpenShift, as far as plans read it. */
export interface NetNamespaceFact {
  /** VNID */
  readonly netid: number;
}

declare module '@podwire/planner' {
  interface FactKinds {
    /** By the name of the namespace; undefined while it has none. */
    'net-namespace': NetNamespaceFact | undefined;
  }
}

declare module '@podwire/network-contract' {
  interface Attachment {
    /** Of the model sdn: the number of the project. */
    readonly vnid?: number;
  }
}

/**
 * In the mode `subnet` all pods are of one project, and nothing is read.
 * @throws PodwireError PROJECT_UNKNOWN while the namespace has no VNID; REQUEST_INVALID for a pod without namespace
 */
export function resolve(pod: PodIdentity, network: NetworkView, read: Read): Attachment {
  if (optionsOf(network).mode === 'subnet') return { vnid: globalVnid };
  const { namespace } = pod;
  if (namespace === undefined) {
    const message = `K8S_POD_NAMESPACE is missing: network ${network.name} keeps pods apart by their namespaces`;
    throw new PodwireError('REQUEST_INVALID', message);
  }
  const found = read(`net-namespace/${namespace}`);
  if (found === undefined) throw unknownProject(`namespace ${namespace} has no VNID yet`);
  return { vnid: found.netid };
}

/** As table 80 has it: the project with VNID 0 reaches all others, and they reach it. */
export const reaches = ({ vnid: from }: Attachment, { vnid: to }: Attachment): boolean =>
  from === to || from === globalVnid || to === globalVnid;

/** Without it a pod would be of the project that reaches all others: an endpoint must have been resolved. */
export function vnidOf(attachment: Attachment | undefined, pod: PodIdentity): number {
  if (attachment?.vnid !== undefined) return attachment.vnid;
  throw unknownProject(`the VNID of pod ${pod.namespace ?? '?'}/${pod.name ?? '?'} was not resolved`);
}

const unknownProject = (message: string): PodwireError => new PodwireError('PROJECT_UNKNOWN', message);
