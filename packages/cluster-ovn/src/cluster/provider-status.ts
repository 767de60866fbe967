/** The status of ProviderNetworks, by what nodes say of them. Pure. */
import type { ProviderNetwork, Vlan } from '@podwire/objects';
import { parseReady } from '@podwire/objects/kube-ovn-names';
import { groupBy } from '@podwire/platform';
import { type NodeCondition, updateReadiness } from './conditions.js';
import type { OvnClusterNode } from './contract.js';
import { listNames } from './status-names.js';

export type NodeStates = Pick<OvnClusterNode, 'name' | 'providers'>;

/**
 * A node that has not said anything yet is not ready, and has no condition.
 * @param nodes all there are
 * @param now milliseconds since 1970, for conditions that change
 */
export function providerStatus(
  network: ProviderNetwork,
  { nodes, vlans }: { readonly nodes: readonly NodeStates[]; readonly vlans: readonly Vlan[] },
  now: number,
): NonNullable<ProviderNetwork['status']> {
  const { name } = network.metadata;
  const excluded = new Set(network.spec.excludeNodes);
  const own = nodes
    .filter((node) => !excluded.has(node.name))
    .map((node) => ({ name: node.name, state: findState(node, name) }));
  const isReady = ({ state }: { readonly state: string | undefined }): boolean =>
    state !== undefined && parseReady(state) !== undefined;
  return {
    ready: own.every(isReady),
    readyNodes: listNames(own.filter(isReady)),
    notReadyNodes: listNames(own.filter((node) => !isReady(node))),
    vlans: listNames(vlans.filter(({ spec }) => spec.provider === name).map(({ metadata }) => metadata)),
    conditions: listConditions(network, own, now),
  };
}

/** A network may have the name `constructor`. */
export const findState = ({ providers = {} }: NodeStates, network: string): string | undefined =>
  Object.hasOwn(providers, network) ? providers[network] : undefined;

function listConditions(
  { status }: ProviderNetwork,
  nodes: readonly { readonly name: string; readonly state: string | undefined }[],
  now: number,
): NodeCondition[] {
  const before = groupBy(status?.conditions ?? [], ({ node }) => node);
  return nodes.flatMap(({ name: node, state }) => {
    if (state === undefined) return [];
    const problem = parseReady(state) === undefined ? state : undefined;
    return [updateReadiness(before.get(node) ?? [], { node, problem }, now)];
  });
}
