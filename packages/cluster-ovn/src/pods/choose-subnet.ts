import { PodwireError } from '@podwire/errors';
import { annotationNames } from './annotations.js';
import type { PodObject, PodSubnet } from './contract.js';
import { podOwner } from './owners.js';

/** The subnet that the pod names, or that of its namespace, or the default one. @throws PodwireError OVN_CONFLICT */
export function chooseSubnet(pod: PodObject, subnets: ReadonlyMap<string, PodSubnet>): PodSubnet {
  const named = pod.annotations[annotationNames.subnet];
  if (named !== undefined) {
    const found = subnets.get(named);
    if (found !== undefined) return found;
    throw noSubnet(`${podOwner(pod)}: ${annotationNames.subnet}: there is no subnet ${named}`);
  }
  const all = [...subnets.values()];
  const found =
    all.find(({ namespaces }) => namespaces.includes(pod.namespace)) ??
    all.find(({ isDefault }) => isDefault);
  if (found !== undefined) return found;
  throw noSubnet(
    `${podOwner(pod)}: no subnet is for namespace ${pod.namespace}, and none is the default one`,
  );
}

const noSubnet = (message: string): PodwireError =>
  new PodwireError('OVN_CONFLICT', message, {
    action: 'Create the subnet, or name one that is there: `podwire get subnets`.',
  });
