/** A cable for tunnels alone: the switch of a node has both ends of the link that it comes from. */
import type { ClusterHost } from '../cluster.js';
import type { Cable } from './node.js';

const LINK = 'eth1';

/** Joins two machines. */
export async function layCable([one, two]: readonly ClusterHost[]): Promise<void> {
  await one!.namespace.ip(`link add ${LINK} type veth peer name ${LINK} netns ${two!.namespace.name}`);
  for (const { namespace } of [one!, two!])
    await namespace.ip(`link set ${LINK} addrgenmode none`, `link set ${LINK} up`);
}

/** The end of a machine, with the address that its tunnels come from. */
export const cableOf = (index: number): Cable => ({ link: LINK, ipv4: `192.0.2.${index + 1}/24` });
