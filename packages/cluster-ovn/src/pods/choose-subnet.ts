import { PodwireError } from '@podwire/errors';
import { conflict } from '../problems.js';
import { annotationNames } from './annotations.js';
import type { PodObject, PodSubnet } from './contract.js';
import { podOwner } from './owners.js';

/**
 * The subnet that the pod names, or that of its namespace, or the default one.
 * @param unreadable names of subnets that may have the namespace
 * @throws PodwireError OVN_CONFLICT
 */
export function chooseSubnet(
  pod: PodObject,
  subnets: ReadonlyMap<string, PodSubnet>,
  unreadable: readonly string[],
): PodSubnet {
  const found = findSubnet(pod, subnets, unreadable);
  if (found.isSuspended === true)
    throw conflict(
      `${podOwner(pod)}: subnet ${found.name} hands out nothing before its own fault is corrected`,
    );
  return found;
}

function findSubnet(
  pod: PodObject,
  subnets: ReadonlyMap<string, PodSubnet>,
  [unreadable]: readonly string[],
): PodSubnet {
  const owner = podOwner(pod);
  const named = pod.annotations[annotationNames.subnet];
  if (named !== undefined) {
    const found = subnets.get(named);
    if (found !== undefined) return found;
    throw noSubnet(`${owner}: ${annotationNames.subnet}: there is no subnet ${named}`);
  }
  const all = [...subnets.values()];
  const own = all.find(({ namespaces }) => namespaces.includes(pod.namespace));
  if (own === undefined && unreadable !== undefined)
    throw conflict(
      `${owner}: the subnet of namespace ${pod.namespace} may be ${unreadable}, which cannot be read`,
    );
  const found = own ?? all.find(({ isDefault }) => isDefault);
  if (found !== undefined) return found;
  throw noSubnet(`${owner}: no subnet is for namespace ${pod.namespace}, and none is the default one`);
}

const noSubnet = (message: string): PodwireError =>
  new PodwireError('OVN_CONFLICT', message, {
    action: 'Create the subnet, or name one that is there: `podwire get subnets`.',
  });
