/** Two nodes of OVN, and a network that the engine has written: pods on two switches with a router between them. */
import { createEngine, type Engine, type Owned, type Resource } from '@podwire/engine';
import { OvsdbClient } from '@podwire/ovsdb';
import type { TestNamespace } from '@podwire/testkit';
import { OvnCluster, type OvnClusterOptions, type OvnNode } from '@podwire/testkit/ovn';
import { createNorthboundBackend, type NorthboundBackend } from '../src/northbound/index.js';

export const call = () => ({ signal: AbortSignal.timeout(60_000), timeout: 60_000 });

const subnets = { blue: '10.16.0', green: '10.17.0' } as const;

interface PodPlan {
  readonly name: string;
  readonly subnet: keyof typeof subnets;
  /** The last number of its address. */
  readonly number: number;
  readonly groups?: readonly string[];
}

const gatewayOf = (subnet: keyof typeof subnets): string => `${subnets[subnet]}.1`;
const addressOf = ({ subnet, number }: PodPlan): string => `${subnets[subnet]}.${number}`;
const macOf = ({ number }: PodPlan): string => `00:00:00:00:00:${number}`;

const plans = {
  web: { name: 'web', subnet: 'blue', number: 10 },
  db: { name: 'db', subnet: 'blue', number: 11, groups: ['guarded'] },
  far: { name: 'far', subnet: 'green', number: 12 },
} as const satisfies Record<string, PodPlan>;

export const VIP = { address: '10.96.0.10', port: 80 };
export const BACKEND = { address: addressOf(plans.far), port: 8_080 };

const subnetResources = (subnet: keyof typeof subnets): readonly Resource[] => [
  { kind: 'logical-switch', name: subnet, loadBalancers: ['services'] },
  {
    ...{ kind: 'logical-router-port', name: `vpc-${subnet}`, router: 'vpc' },
    ...{ mac: `00:00:00:00:01:0${subnet.length}`, networks: [`${gatewayOf(subnet)}/24`] },
  },
  {
    ...{ kind: 'logical-switch-port', name: `${subnet}-vpc`, switch: subnet, type: 'router' },
    ...{ addresses: ['router'], options: { 'router-port': `vpc-${subnet}` } },
  },
];

const portOf = (plan: PodPlan): Resource => {
  const addresses = [`${macOf(plan)} ${addressOf(plan)}`];
  const { name, subnet, groups = [] } = plan;
  return {
    ...{ kind: 'logical-switch-port', name, switch: subnet, addresses, portSecurity: addresses, groups },
  };
};

export const network: Owned = {
  owner: 'vpc',
  resources: [
    { kind: 'logical-router', name: 'vpc' },
    { kind: 'port-group', name: 'guarded' },
    {
      ...{ kind: 'load-balancer', name: 'services', protocol: 'tcp' },
      vips: { [`${VIP.address}:${VIP.port}`]: [`${BACKEND.address}:${BACKEND.port}`] },
    },
    ...[...subnetResources('blue'), ...subnetResources('green')],
    ...Object.values(plans).map(portOf),
  ],
};

export interface WorldPod {
  readonly namespace: TestNamespace;
  readonly address: string;
}

export interface World {
  readonly cluster: OvnCluster;
  readonly engine: Engine;
  readonly backend: NorthboundBackend;
  readonly pods: { readonly [name in keyof typeof plans]: WorldPod };
  close(): Promise<void>;
}

/** The pod `web` is on the first node, the others are on the second. */
export async function createWorld(options: Pick<OvnClusterOptions, 'encapsulation'>): Promise<World> {
  const cluster = await OvnCluster.start({ name: 'ovn', nodes: 2, ...options });
  const { endpoint } = cluster.central.northbound;
  const backend = createNorthboundBackend(
    new OvsdbClient({ database: 'OVN_Northbound', endpoints: [endpoint] }),
  );
  const engine = createEngine({ backends: [backend] });
  const close = async (): Promise<void> => {
    await engine.close();
    await cluster.close();
  };
  try {
    await engine.apply(network, call());
    const pods = await addPods(cluster.nodes as readonly [OvnNode, OvnNode]);
    await backend.settle('hypervisors', call());
    return { cluster, engine, backend, pods, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const addPods = async ([first, second]: readonly [OvnNode, OvnNode]): Promise<World['pods']> => ({
  web: await addPod(first, plans.web),
  db: await addPod(second, plans.db),
  far: await addPod(second, plans.far),
});

async function addPod(node: OvnNode, plan: PodPlan): Promise<WorldPod> {
  const address = addressOf(plan);
  const namespace = await node.addPod({
    ...{ port: plan.name, mac: macOf(plan), address: `${address}/24`, gateway: gatewayOf(plan.subnet) },
  });
  return { namespace, address };
}
