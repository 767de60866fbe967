/** Two nodes as the agent makes them: the routed model's plans, carried out by the engine, with the packet filter. */
import { createLinuxBackends, openKernel } from '@podwire/backend-linux';
import { createEngine, type Engine, type Owned, type Resource } from '@podwire/engine';
import { openNamespace } from '@podwire/linux';
import type { NodeView } from '@podwire/network-contract';
import { createRoutedModel } from '@podwire/network-routed';
import { planNodeTraffic, planSources } from '@podwire/network-traffic';
import type { PrivateHost, TestNamespace } from '@podwire/testkit';
import { closeAll, createNodes, type Pair, underlayOf } from './pair.js';

const model = createRoutedModel();
const call = () => ({ signal: AbortSignal.timeout(20_000) });
export const podAddresses = (number: number, last: number) => ({
  ipv4: `10.244.${number}.${last}`,
  ipv6: `fd00:244:0:${number}::${last}`,
});

export async function makeByPodwire(encapsulation: 'direct' | 'vxlan'): Promise<Pair> {
  const nodes = await createNodes('podwire');
  const engines = nodes.map(({ namespace }) =>
    createEngine({ backends: createLinuxBackends(openKernel(namespace)) }),
  );
  const views = [viewOf(1, encapsulation), viewOf(2, encapsulation)];
  const pods: TestNamespace[] = [];
  for (const [index, node] of nodes.entries()) {
    const [view, other] = [views[index]!, views[1 - index]!];
    const { ipv4, ipv6 } = other.underlay!;
    const peer = { name: other.name, ipv4: ipv4!, ipv6: ipv6!, tunnel: other.tunnel!, blocks: other.blocks };
    await engines[index]!.apply({ owner: 'node', resources: planNode(view) }, call());
    await engines[index]!.apply(
      { owner: `peer:${other.name}`, resources: model.planPeer(view, peer) },
      call(),
    );
    pods.push(await makePod(node, engines[index]!, view, index + 1));
  }
  const close = async (): Promise<void> => {
    for (const engine of engines) await engine.close();
    await closeAll(nodes);
  };
  return { client: pods[0]!, server: pods[1]!, nodes, addresses: podAddresses(2, 2), close };
}

/** All that a node has before its first pod, but policy. */
export const planNode = (view: NodeView): Resource[] => [...model.planNode(view), ...planNodeTraffic([view])];

export function viewOf(number: number, encapsulation: 'direct' | 'vxlan'): NodeView {
  const pool = (name: string, cidr: string) => ({ name, cidr, natOutgoing: true, encapsulation });
  const pools = [pool('four', '10.244.0.0/16'), pool('six', 'fd00:244::/48')];
  const view: NodeView = {
    name: `node${number}`,
    network: { name: 'default', model: 'routed', pools },
    blocks: [`10.244.${number}.0/26`, `fd00:244:0:${number}::/122`],
    mtu: 0,
    ipv4: true,
    ipv6: true,
    underlay: underlayOf(number),
    tunnel: { mac: model.nodeIdentity!(`node${number}`).tunnelMac, ...podAddresses(number, 1) },
  };
  return { ...view, mtu: model.podMtu(view) };
}

async function makePod(
  node: PrivateHost,
  engine: Engine,
  view: NodeView,
  number: number,
): Promise<TestNamespace> {
  const { namespace, owned, link, addresses } = planPod(node, view, number);
  await engine.change({ owner: 'policy' }, { replace: planSources(link, addresses) }, call());
  await engine.apply(owned, call());
  return namespace;
}

/** A pod that is still to be applied. */
export interface PlannedPod {
  readonly namespace: TestNamespace;
  readonly owned: Owned;
  /** On the node. */
  readonly link: string;
  readonly addresses: readonly string[];
}

/** @param last of its addresses */
export function planPod(node: PrivateHost, view: NodeView, number: number, last = 2): PlannedPod {
  const namespace = node.addPod();
  const handle = openNamespace(namespace.path);
  const { path, device, inode } = handle;
  handle.close();
  const { ipv4, ipv6 } = podAddresses(number, last);
  const id = `c${number}-${last}`;
  const { resources } = model.planEndpoint(
    {
      id: { containerId: id, ifName: 'eth0', network: 'default' },
      pod: { namespace: 'default', name: `pod-${id}` },
      leases: [
        { address: ipv4, pool: 'four' },
        { address: ipv6, pool: 'six' },
      ],
      mac: `02:00:00:00:0${number}:0${last}`,
      portMappings: [],
    },
    view,
  );
  const link = resources.flatMap((resource) => (resource.kind === 'veth' ? [resource.host.name] : []))[0]!;
  const owned = { owner: `endpoint:${id}`, resources, namespace: { path, device, inode } };
  return { namespace, owned, link, addresses: [ipv4, ipv6] };
}
