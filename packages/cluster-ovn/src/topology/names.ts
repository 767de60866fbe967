/** Names of rows, as Kube-OVN gives them where one name cannot stand for two things. */

export const JOIN_SUBNET = 'join';

/** Its switch's side of the link between a subnet and the router of its VPC. */
export const switchSideName = (subnet: string, vpc: string): string => `${subnet}-${vpc}`;

/** The router's side. */
export const routerSideName = (subnet: string, vpc: string): string => `${vpc}-${subnet}`;

export const localnetName = (subnet: string): string => `localnet.${subnet}`;

export const nodePortName = (node: string): string => `node-${node}`;

/** The `iface-id` of the pod's interface. */
export const podPortName = (namespace: string, name: string): string => `${name}.${namespace}`;

/**
 * The pods of a subnet on one node. Kube-OVN writes a dot for each `-`, so that the subnet `a-b` on the node `c` and `a` on `b-c` share a
 * group, and pods leave through the wrong node. Here names stay apart: `-` is `_`, a dot is two, and one dot is between them.
 */
export const egressGroupName = (subnet: string, node: string): string =>
  beginWithLetter(`${escapeName(subnet)}.${escapeName(node)}`);

const escapeName = (name: string): string => name.replaceAll('.', '..').replaceAll('-', '_');

/** Names in matches do; no name of a subnet begins with `-`, which is what `_` stands for elsewhere. */
const beginWithLetter = (name: string): string => (/^\d/.test(name) ? `_${name}` : name);
