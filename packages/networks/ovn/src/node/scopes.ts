/** The node's end of the subnet `join`, and the gateway that it is for pods. */
import { familyOf } from '@podwire/addresses';
import type { Resource } from '@podwire/engine';
import type { ModelScopes } from '@podwire/network-contract';
import { planForwarding } from '@podwire/network-traffic';
import type { Read } from '@podwire/planner';
import type { GatewaySubnet } from '../gateway/facts.js';
import { planGateway } from '../gateway/plan-gateway.js';
import { BRIDGE, NODE_LINK } from '../names.js';
import { planLimitedPort } from '../limits.js';
import { type JoinedNode, readNode } from './read-node.js';

const kind = 'ovn-gateway';
const ID = 'node';

/** Pods of the cluster's own VPC reach what is outside of the logical network by it. */
export const gatewayScope = `${kind}/${ID}`;

/** Pods are not part of it: each brings its own elements. */
export const gatewayScopes: ModelScopes = {
  kind,
  list: (read) => (readNode(read) === undefined ? [] : [ID]),
  plan(_, read) {
    const node = readNode(read);
    return node === undefined
      ? []
      : [...planNodeLink(node), ...planGateway(node.gateway, listSubnets(node, read), [])];
  },
};

/** Without that of the node itself, whose addresses are on the link. */
const listSubnets = ({ gateway: { join } }: JoinedNode, read: Read): GatewaySubnet[] =>
  [...read('ovn-node-subnets')].flatMap((name) => {
    const { ranges, exit } = read(`ovn-node-subnet/${name}`) ?? {};
    const cidrs = ranges?.map(({ cidr }) => cidr) ?? [];
    const isJoin = join.some(({ cidr }) => cidrs.includes(cidr));
    return exit === undefined || isJoin ? [] : [{ name, cidrs, ...exit }];
  });

/** A port that ovn-controller knows by its id, with its addresses. */
function planNodeLink({ view, port, mac, addresses, rates }: JoinedNode): Resource[] {
  const ip = addresses.map((address) => address.slice(0, address.indexOf('/'))).join(',');
  const externalIds = { 'iface-id': port, ip };
  const families = ([4, 6] as const).filter((family) => addresses.some((one) => familyOf(one) === family));
  const common = { name: NODE_LINK, type: 'internal', mac, mtuRequest: view.mtu, externalIds };
  return [
    ...planLimitedPort({ kind: 'ovs-port', name: NODE_LINK, bridge: BRIDGE, interfaces: [common] }, rates),
    { kind: 'ovs-port-ready', port: NODE_LINK, isLink: true },
    ...planForwarding(view, families),
    ...addresses.map((address): Resource => ({ kind: 'address', in: 'host', link: NODE_LINK, address })),
    { kind: 'link-up', in: 'host', link: NODE_LINK },
  ];
}
