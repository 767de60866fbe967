/** Labels of nodes for provider networks, as Kube-OVN 1.8 has them. Pure. */
import type { ProviderNetwork } from '@podwire/objects';
import { parseReady, providerInterface, providerLabel } from '@podwire/objects/kube-ovn-names';
import { compact } from '@podwire/platform';
import { findState, type NodeStates } from './provider-status.js';

export type Labels = Readonly<Record<string, string>>;

/** Of all networks: a node that is not ready has none of one. */
export const listNodeLabels = (node: NodeStates, networks: readonly ProviderNetwork[]): Labels =>
  Object.assign({}, ...networks.map((network) => labelsOf(node, network))) as Labels;

function labelsOf(node: NodeStates, { metadata: { name: network }, spec }: ProviderNetwork): Labels {
  if (spec.excludeNodes.includes(node.name)) return { [providerLabel(network, 'exclude')]: 'true' };
  const ready = parseReady(findState(node, network) ?? '');
  if (ready === undefined) return {};
  const link = providerInterface(spec, node.name);
  return compact({
    [providerLabel(network, 'ready')]: 'true',
    [providerLabel(network, 'interface')]: isLabelValue(link) ? link : undefined,
    [providerLabel(network, 'mtu')]: ready.mtu,
  }) as Labels;
}

/** The API server refuses others, and all labels of the node with them; an interface may be called nearly anything. */
const isLabelValue = (text: string): boolean => /^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/.test(text);
