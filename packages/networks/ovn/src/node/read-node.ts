/** This node in the logical network: its end of the subnet `join`. */
import { familyOf } from '@podwire/addresses';
import type { NodeView } from '@podwire/network-contract';
import { addressIn } from '@podwire/network-traffic';
import type { Read } from '@podwire/planner';
import { compact } from '@podwire/platform';
import type { Rates } from '../annotations.js';
import type { GatewayNode } from '../gateway/facts.js';
import { MODEL } from '../names.js';
import type { IpFact, SubnetFact } from '../objects.js';
import { optionsOf } from '../options.js';

export interface JoinedNode {
  readonly view: NodeView;
  /** The logical port: `node-one`. */
  readonly port: string;
  readonly mac: string;
  /** ADDRESS/LENGTH, one of each family at most. */
  readonly addresses: readonly string[];
  /** Of all that passes its link, as the node sees the direction. */
  readonly rates?: Rates;
  readonly gateway: GatewayNode;
}

/** Undefined while the controller has given it no addresses, or where it has no network of the model. */
export function readNode(read: Read): JoinedNode | undefined {
  const view = read('sides-for-peers').find(({ model }) => model.name === MODEL)?.view;
  if (view === undefined) return undefined;
  const port = `node-${view.name}`;
  const ip = read(`ovn-ip/${port}`);
  const join = ip === undefined ? undefined : read(`ovn-node-subnet/${ip.subnet}`);
  if (ip === undefined || join === undefined) return undefined;
  const { ranges } = join;
  return {
    ...{ view, port, mac: ip.mac, addresses: withLengths(ip, ranges) },
    ...compact({ rates: ip.rates }),
    gateway: toGateway(view, ranges),
  };
}

const withLengths = ({ addresses }: IpFact, ranges: SubnetFact['ranges']): string[] =>
  addresses.flatMap((address) => {
    const range = ranges.find(({ gateway }) => familyOf(gateway) === familyOf(address));
    return range === undefined ? [] : [`${address}/${range.length}`];
  });

/** Tunnels and everything outside of the cluster leave by the link of the underlay. */
function toGateway(view: NodeView, ranges: SubnetFact['ranges']): GatewayNode {
  const { name, network, underlay, mtu } = view;
  const { serviceNetworks, localDns } = optionsOf(network);
  const { link = '', ipv4, ipv6 } = underlay ?? {};
  return {
    name,
    addresses: [ipv4, ipv6].flatMap((text) => (text === undefined ? [] : [addressIn(text)])),
    join: ranges.map(({ cidr, gateway }) => ({ cidr, gateway })),
    ...{ services: serviceNetworks, localDns },
    ...(underlay === undefined ? {} : { tunnel: { link, mtu } }),
    uplink: link,
  };
}
