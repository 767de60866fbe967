import fs from 'node:fs';
import type { Endpoint, NodeView, PlannedEndpoint, PoolView } from '@podwire/network-contract';
import { planNodeTraffic } from '@podwire/network-traffic';
import { createRoutedModel } from '@podwire/network-routed';
import { createPrivateHost, type PrivateHost, type TestNamespace, type WorldOptions } from '@podwire/testkit';
import { applyByCommands } from './interpreter.js';

/** A pod that was wired by its plan. */
export interface WiredPod {
  readonly namespace: TestNamespace;
  readonly endpoint: Endpoint;
  readonly plan: PlannedEndpoint;
  readonly ipv4: string;
  readonly ipv6: string;
}

/** A private host that carries out the plans of the routed model. */
export interface WiredHost extends Pick<PrivateHost, 'namespace' | 'directory' | 'close'> {
  readonly world: TestNamespace;
  /** Plans and wires an endpoint; pods get 10.244.0.N and fd00:244::N, N counting from 2. */
  addPod(options?: Partial<Endpoint>, namespace?: TestNamespace): Promise<WiredPod>;
  addNamespace(): TestNamespace;
}

export const ownBlocks = ['10.244.0.0/26', 'fd00:244::/122'];

export const pools: readonly PoolView[] = [
  { name: 'ipv4', cidr: '10.244.0.0/16', natOutgoing: true },
  { name: 'ipv6', cidr: 'fd00:244::/48', natOutgoing: true },
];

/** A network whose pools belong to the same cluster, so that traffic between is not masqueraded. */
export const otherPools: readonly PoolView[] = [
  { name: 'other-ipv4', cidr: '10.245.0.0/16', natOutgoing: false },
  { name: 'other-ipv6', cidr: 'fd00:245::/48', natOutgoing: false },
];

export function nodeView(changes: Partial<NodeView> = {}): NodeView {
  const network = { name: 'default', model: 'routed', pools };
  return { name: 'node1', network, blocks: ownBlocks, mtu: 1450, ipv4: true, ipv6: true, ...changes };
}

const model = createRoutedModel();

export type Parameters = Readonly<Record<string, string>>;

/** Settings that break naive wiring, each found on real machines. */
export const hostileParameters: Parameters = {
  'net/ipv4/conf/all/rp_filter': '1',
  'net/ipv4/conf/default/rp_filter': '1',
  'net/ipv4/conf/default/arp_ignore': '1',
  'net/ipv6/conf/default/disable_ipv6': '1',
  'net/ipv6/conf/default/accept_ra': '2',
};

export async function createWiredHost(
  name: string,
  world: WorldOptions = {},
  parameters: Parameters = hostileParameters,
): Promise<WiredHost> {
  const host = await createPrivateHost({ name, world });
  for (const [key, value] of Object.entries(parameters)) {
    host.namespace.inside(() => fs.writeFileSync(`/proc/sys/${key}`, value));
  }
  const node = nodeView();
  const other = nodeView({ network: { name: 'other', model: 'routed', pools: otherPools }, blocks: [] });
  const plan = [...model.planNode(node), ...planNodeTraffic([node, other])];
  await applyByCommands(plan, { host: host.namespace });
  return wiredHost(host, node);
}

function wiredHost(host: PrivateHost, node: NodeView): WiredHost {
  let last = 1;
  const addPod: WiredHost['addPod'] = async (options = {}, namespace = newPod(host)) => {
    last += 1;
    const [ipv4, ipv6] = [`10.244.0.${last}`, `fd00:244::${last}`];
    const endpoint: Endpoint = {
      id: { containerId: `container-${last}`, ifName: 'eth0', network: 'default' },
      pod: { namespace: 'default', name: `pod-${last}` },
      leases: [
        { address: ipv4, pool: 'ipv4' },
        { address: ipv6, pool: 'ipv6' },
      ],
      mac: `02:00:00:00:00:${last.toString(16).padStart(2, '0')}`,
      portMappings: [],
      ...options,
    };
    const plan = model.planEndpoint(endpoint, node);
    await applyByCommands(plan.resources, { host: host.namespace, pod: namespace });
    return { namespace, endpoint, plan, ipv4, ipv6 };
  };
  if (host.world === undefined) throw new Error('a wired host has a world');
  const { namespace, directory, world } = host;
  const addNamespace = (): TestNamespace => newPod(host);
  return { namespace, directory, world, addPod, addNamespace, close: () => host.close() };
}

/** Like the namespaces some runtimes make: IPv6 is off in it. */
function newPod(host: PrivateHost): TestNamespace {
  const pod = host.addPod();
  pod.inside(() => fs.writeFileSync('/proc/sys/net/ipv6/conf/all/disable_ipv6', '1'));
  return pod;
}
