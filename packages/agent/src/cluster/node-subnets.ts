/** Subnets that nodes have by objects of the cluster, for models whose nodes claim no blocks. Pure. */
import { PodwireError } from '@podwire/errors';
import type { NetworkModel } from '@podwire/network-contract';
import type { FactName, Read } from '@podwire/planner';
import type { Network } from '../networks.js';
import type { ClusterFacts } from '../node/node.js';

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

/**
 * Without its subnet a node of such a model has nothing to attach pods to, and nothing that leads to peers can be made.
 * @throws PodwireError AGENT_NOT_READY naming a network
 */
export function requireSubnets(
  networks: readonly Network[],
  { blocksOf }: Pick<ClusterFacts, 'blocksOf'>,
): void {
  const lacking = networks.find((network) => network.model.subnets && blocksOf(network).length === 0);
  if (lacking === undefined) return;
  const message = `this node has no subnet of network ${lacking.view.name} yet`;
  const where = '`podwire status` of the node that leads the controllers says why, unless it is new';
  throw new PodwireError('AGENT_NOT_READY', `${message}: ${where}`);
}
