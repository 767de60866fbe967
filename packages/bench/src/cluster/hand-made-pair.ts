/** Setup that an administrator would type: the same veth pairs, routes and tunnel, and nothing else. */
import type { PrivateHost, TestNamespace } from '@podwire/testkit';
import { closeAll, createNodes, type Pair } from './pair.js';

const mac = (number: number): string => `66:00:00:00:00:0${number}`;
const block = (number: number) => ({ ipv4: `10.250.${number}.0/26`, ipv6: `fd00:250:0:${number}::/122` });
const gateway = (number: number) => ({ ipv4: `10.250.${number}.1`, ipv6: `fd00:250:0:${number}::1` });
export const podAddresses = (number: number) => ({
  ipv4: `10.250.${number}.2`,
  ipv6: `fd00:250:0:${number}::2`,
});

/** Pods that are to reach more than each other need this besides; it switches connection tracking on. */
const masquerading = `
table inet hand {
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr 10.250.0.0/16 ip daddr != 10.250.0.0/16 masquerade
    ip6 saddr fd00:250::/32 ip6 daddr != fd00:250::/32 masquerade
  }
}
`;

export async function makeByHand(
  encapsulation: 'direct' | 'vxlan',
  options: { readonly masquerade?: boolean } = {},
): Promise<Pair> {
  const nodes = await createNodes('hand');
  const pods: TestNamespace[] = [];
  for (const [index, node] of nodes.entries()) {
    const [here, there] = [index + 1, 2 - index];
    if (options.masquerade === true) await node.run(['nft', '-f', '-'], { input: masquerading });
    pods.push(await makePod(node, here, encapsulation === 'vxlan' ? 1450 : 1500));
    if (encapsulation === 'vxlan') await makeTunnel(node, here, there);
    else
      await node.namespace.ip(
        `route add ${block(there).ipv4} via 192.0.2.${there}`,
        `route add ${block(there).ipv6} via 2001:db8:2::${there}`,
      );
  }
  const close = async (): Promise<void> => closeAll(nodes);
  return { client: pods[0]!, server: pods[1]!, nodes, addresses: podAddresses(2), close };
}

/** A pod with a link, its addresses and the routes to it. */
export async function makePod(
  node: PrivateHost,
  number: number,
  mtu: number,
  link = 'pod',
): Promise<TestNamespace> {
  const namespace = node.addPod();
  const { ipv4, ipv6 } = podAddresses(number);
  await node.namespace.ip(
    `link add ${link} mtu ${mtu} address ee:ee:ee:ee:ee:ee type veth peer name eth0 mtu ${mtu} netns ${namespace.name}`,
    `link set ${link} addrgenmode none`,
    `link set ${link} up`,
    `addr add fe80::1/64 dev ${link} nodad`,
    `route add ${ipv4}/32 dev ${link}`,
    `route add ${ipv6}/128 dev ${link}`,
  );
  await namespace.ip(
    'link set lo up',
    'link set eth0 up',
    `addr add ${ipv4}/32 dev eth0`,
    `addr add ${ipv6}/128 dev eth0 nodad`,
    'neigh add 169.254.1.1 lladdr ee:ee:ee:ee:ee:ee dev eth0 nud permanent',
    'neigh add fe80::1 lladdr ee:ee:ee:ee:ee:ee dev eth0 nud permanent',
    'route add 169.254.1.1/32 dev eth0',
    'route add default via 169.254.1.1',
    'route add default via fe80::1 dev eth0',
  );
  return namespace;
}

async function makeTunnel({ namespace }: PrivateHost, here: number, there: number): Promise<void> {
  const [own, peer] = [gateway(here), gateway(there)];
  await namespace.ip(
    `link add vx address ${mac(here)} mtu 1450 type vxlan id 4096 dstport 4789 local 192.0.2.${here} dev eth0 nolearning`,
    'link set vx addrgenmode none',
    'link set vx up',
    `addr add ${own.ipv4}/32 dev vx`,
    `addr add ${own.ipv6}/128 dev vx nodad`,
    `neigh add ${peer.ipv4} lladdr ${mac(there)} dev vx nud permanent`,
    `neigh add ${peer.ipv6} lladdr ${mac(there)} dev vx nud permanent`,
    `route add ${block(there).ipv4} via ${peer.ipv4} dev vx onlink`,
    `route add ${block(there).ipv6} via ${peer.ipv6} dev vx onlink`,
  );
  await namespace.run(['bridge', 'fdb', 'add', mac(there), 'dev', 'vx', 'dst', `192.0.2.${there}`]);
}
