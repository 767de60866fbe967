/** Where a packet that has left a bridge through the tunnel goes on. Pure. */
import { TUNNEL_PORT } from '@podwire/network-sdn/description';
import { compact } from '@podwire/platform';
import type { HopView } from './hop.js';
import { type ClusterNames, nodeAt } from './names.js';
import type { Question } from './question.js';

export interface Arrival {
  /** The address that the tunnel leads to, and the name of the node there where that is known. */
  readonly address: string;
  readonly node?: string;
  /** For the switch of that node. */
  readonly question: Question;
}

/** One for each tunnel; none where the tables are not known, or the bridge does not say which address its node has. */
export function findArrivals(
  question: Question,
  { address: source, outputs }: Pick<HopView, 'address' | 'outputs'>,
  names: ClusterNames,
): Arrival[] {
  if (source === null) return [];
  return outputs.flatMap(({ port, tunnelDestination: address, tunnelId: vnid }) => {
    if (port !== TUNNEL_PORT || address === undefined || vnid === undefined) return [];
    const tunnel = { source, vnid };
    return [{ address, ...compact({ node: nodeAt(address, names) }), question: { ...question, tunnel } }];
  });
}

/** The command that asks a switch of OpenShift SDN, on its own node, about a packet from another one. */
export function formatCommand({ from, to, protocol, port, tunnel }: Question, bridge: string): string {
  const words = ['podwire packet trace', `--from ${from.address}`, `--to ${to.address}`];
  if (port !== undefined) words.push(`--${protocol} ${port}`);
  if (tunnel !== undefined) words.push(`--tunnel-from ${tunnel.source}`, `--vnid ${tunnel.vnid}`);
  if (bridge !== 'br0') words.push(`--bridge ${bridge}`);
  return words.join(' ');
}
