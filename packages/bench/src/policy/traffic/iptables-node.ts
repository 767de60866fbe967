/** The usual way before: pods made by hand, and one chain of iptables with one rule after the other for each flow. */
import { makePod, podAddresses } from '../../cluster/hand-made-pair.js';
import { createNode, describeFlows, type PolicedPods } from './one-node.js';

export interface ChainOptions {
  readonly program: 'iptables-nft' | 'iptables-legacy';
  readonly rules: number;
  /** True if established connections are let through in front of the chain. */
  readonly established: boolean;
}

const mtu = 1500;

export async function makeChain({ program, rules, established }: ChainOptions): Promise<PolicedPods> {
  const node = await createNode(program);
  const client = await makePod(node, 1, mtu, 'client');
  const server = await makePod(node, 2, mtu, 'server');
  const [from, to] = [podAddresses(1).ipv4, podAddresses(2).ipv4];
  const flows = describeFlows(rules, from);
  const restore = [
    '*filter',
    ...[':INPUT ACCEPT', ':FORWARD ACCEPT', ':OUTPUT ACCEPT', ':POLICY -'],
    ...(established ? ['-A FORWARD -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT'] : []),
    '-A FORWARD -o server -j POLICY',
    ...flows.map(({ source, port }) => `-A POLICY -s ${source} -p tcp --dport ${port} -j ACCEPT`),
    '-A POLICY -j DROP',
    'COMMIT\n',
  ];
  await node.run([`${program}-restore`], { input: restore.join('\n') });
  return { node, client, server, address: to, port: flows.at(-1)!.port, close: () => node.close() };
}
