import fs from 'node:fs';
import { createPrivateHost, type PrivateHost, type TestNamespace } from '@podwire/testkit';

/** Two pods on two nodes. */
export interface Pair {
  readonly client: TestNamespace;
  readonly server: TestNamespace;
  /** Of the client and of the server. */
  readonly nodes: readonly PrivateHost[];
  /** Of the server. */
  readonly addresses: Readonly<Record<'ipv4' | 'ipv6', string>>;
  close(): Promise<void>;
}

export const underlayOf = (number: number) => ({
  link: 'eth0',
  mtu: 1500,
  ipv4: `192.0.2.${number}/24`,
  ipv6: `2001:db8:2::${number}/64`,
});

/** Two nodes joined by a wire, `eth0` on both. */
export async function createNodes(name: string): Promise<PrivateHost[]> {
  const nodes = [
    await createPrivateHost({ name: `${name}-1` }),
    await createPrivateHost({ name: `${name}-2` }),
  ];
  const [first, second] = nodes;
  await first!.namespace.ip(`link add eth0 type veth peer name eth0 netns ${second!.namespace.name}`);
  for (const [index, { namespace }] of nodes.entries()) {
    for (const key of ['net/ipv4/ip_forward', 'net/ipv6/conf/all/forwarding'])
      namespace.inside(() => fs.writeFileSync(`/proc/sys/${key}`, '1'));
    const { ipv4, ipv6 } = underlayOf(index + 1);
    await namespace.ip('link set eth0 up', `addr add ${ipv4} dev eth0`, `addr add ${ipv6} dev eth0 nodad`);
  }
  return nodes;
}

export async function closeAll(hosts: readonly PrivateHost[]): Promise<void> {
  for (const host of hosts) await host.close();
}
