/** Subnets that nodes have by objects of the cluster, for models whose nodes claim no blocks. Pure. */
import type { NetworkModel } from '@podwire/network-contract';
import type { FactName, Read } from '@podwire/planner';
import type { Network } from '../networks.js';

export function readSubnets(
  { model: { subnets }, view }: Pick<Network, 'model' | 'view'>,
  nodeName: string,
  read: Read,
): readonly string[] {
  return subnets === undefined ? [] : subnets.of(read(`${subnets.fact}/${nodeName}` as FactName), view);
}

/** Names of the nodes whose subnets may be others after these facts have changed. */
export function listSubnetOwners(
  models: readonly NetworkModel[],
  changed: readonly FactName[],
): readonly string[] {
  const prefixes = models.flatMap(({ subnets }) => (subnets === undefined ? [] : [`${subnets.fact}/`]));
  return changed.flatMap((name) => {
    const prefix = prefixes.find((each) => name.startsWith(each));
    return prefix === undefined ? [] : [name.slice(prefix.length)];
  });
}
