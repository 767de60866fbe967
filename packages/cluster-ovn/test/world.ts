/** Facts of a small cluster: two nodes, the subnet `join` and two others, and a pod on each. */
import type { FactName, FactValue, Read } from '@podwire/planner';
import type { OvnNode, OvnPod, OvnSubnet, OvnVpc } from '@podwire/cluster-ovn';

export interface World {
  readonly vpcs: Map<string, OvnVpc>;
  readonly subnets: Map<string, OvnSubnet>;
  readonly nodes: Map<string, OvnNode>;
  readonly pods: Map<string, OvnPod>;
}

export const distributed = { type: 'distributed' } as const;

export const subnetOf = (range: string, rest: Partial<OvnSubnet> = {}): OvnSubnet => ({
  ...{ vpc: 'ovn-cluster', egress: distributed },
  ranges: [{ cidr: `10.${range}.0.0/16`, gateway: `10.${range}.0.1` }],
  ...rest,
});

export const nodeOf = (number: number): OvnNode => ({
  mac: `00:00:00:00:64:0${number}`,
  joinAddresses: [`100.64.0.${number + 1}`],
  addresses: [`192.0.2.${number}`],
});

export const podOf = (id: string, subnet: string, address: string, rest: Partial<OvnPod> = {}): OvnPod => {
  const [namespace, name] = id.split('/') as [string, string];
  const mac = `00:00:00:${address
    .split('.')
    .slice(1)
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join(':')}`;
  return { namespace, name, subnet, mac, addresses: [address], hasPortSecurity: false, ...rest };
};

export function createWorld(): World {
  return {
    vpcs: new Map([['ovn-cluster', { isDefault: true, staticRoutes: [] }]]),
    subnets: new Map([
      ['join', { ...subnetOf('16'), ranges: [{ cidr: '100.64.0.0/16', gateway: '100.64.0.1' }] }],
      ['ovn-default', subnetOf('16')],
      ['blue', subnetOf('17')],
    ]),
    nodes: new Map([
      ['node-1', nodeOf(1)],
      ['node-2', nodeOf(2)],
    ]),
    pods: new Map([
      ['shop/web', podOf('shop/web', 'ovn-default', '10.16.0.5', { node: 'node-1' })],
      ['shop/db', podOf('shop/db', 'blue', '10.17.0.5', { node: 'node-2' })],
    ]),
  };
}

/** Where a planner gets its facts. */
export const sourcesOf = ({ vpcs, subnets, nodes, pods }: World) => ({
  'ovn-vpc': (name: string) => vpcs.get(name),
  'ovn-subnet': (name: string) => subnets.get(name),
  'ovn-node': (name: string) => nodes.get(name),
  'ovn-nodes': () => nodes,
  'ovn-pod': (id: string) => pods.get(id),
});

export function readerOf(world: World): Read {
  const sources: Readonly<Record<string, (id: string) => unknown>> = sourcesOf(world);
  return <N extends FactName>(fact: N) => {
    const [kind, ...id] = fact.split('/');
    return sources[kind!]!(id.join('/')) as FactValue<N>;
  };
}
