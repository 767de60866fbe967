/**
 * Nodes in namespaces, wired by the engine from the routed model's plans: 1 to 3 on one segment, 4 behind a router. No agent,
 * no store: what each node knows of the others is handed to it.
 */
import fs from 'node:fs';
import { createLinuxBackends, openKernel } from '@podwire/backend-linux';
import {
  createEngine,
  type Engine,
  type EngineOptions,
  type NamespaceIdentity,
  type Owned,
} from '@podwire/engine';
import { openNamespace } from '@podwire/linux';
import type { Endpoint, NodeView, PeerView, PoolView } from '@podwire/network-contract';
import { createRoutedModel } from '@podwire/network-routed';
import { planNodeTraffic } from '@podwire/network-traffic';
import {
  createPrivateHost,
  createTestNamespace,
  type PrivateHost,
  processesIn,
  type TestNamespace,
} from '@podwire/testkit';

export const families = ['ipv4', 'ipv6'] as const;
export type FamilyName = (typeof families)[number];

export interface FabricOptions {
  readonly name: string;
  readonly encapsulation: NonNullable<PoolView['encapsulation']>;
  /** Of the addresses that nodes have; both when absent. */
  readonly underlay?: readonly FamilyName[];
  readonly natOutgoing?: boolean;
}

export interface FabricPod {
  readonly namespace: TestNamespace;
  readonly ipv4: string;
  readonly ipv6: string;
}

export interface FabricNode {
  readonly number: number;
  readonly host: PrivateHost;
  readonly engine: Engine;
  readonly view: NodeView;
  readonly peer: PeerView;
  /** Addresses of the underlay. */
  readonly ipv4: string;
  readonly ipv6: string;
  /** Addresses of its end of tunnels. */
  readonly tunnel: Readonly<Record<FamilyName, string>>;
  readonly owned: Owned;
  addPod(addresses?: Partial<Record<FamilyName, string>>): Promise<FabricPod>;
  /** Resources that lead to these nodes. */
  ownedPeers(peers: readonly FabricNode[]): Owned[];
  /** Makes it know just these nodes, whatever it knew before. */
  meet(peers: readonly FabricNode[]): Promise<void>;
  restart(options?: Partial<EngineOptions>): Engine;
}

export interface Fabric {
  readonly nodes: readonly FabricNode[];
  readonly router: TestNamespace;
  /** Another machine on the nodes' segment, at 192.0.2.66 and 2001:db8:2::66. */
  readonly stranger: TestNamespace;
  close(): Promise<void>;
}

/** On the router's `lo`. */
export const beyond = { ipv4: '203.0.113.1', ipv6: '2001:db8:99::1' } as const;

const model = createRoutedModel();
export const call = () => ({ signal: AbortSignal.timeout(20_000) });

const subnets = { near: ['192.0.2', '2001:db8:2::'], far: ['198.51.100', '2001:db8:51::'] } as const;
const subnetOf = (number: number) => (number === 4 ? subnets.far : subnets.near);

/** Settings that break naive fabrics: the node takes no packet whose answer would leave by another link. */
const strict = {
  'net/ipv4/conf/all/rp_filter': '1',
  'net/ipv4/conf/default/rp_filter': '1',
  'net/ipv6/conf/default/disable_ipv6': '1',
};

export async function createFabric(options: FabricOptions): Promise<Fabric> {
  const prefix = `pwf-${process.pid}-${options.name}`;
  const router = createTestNamespace(`${prefix}-r`);
  const stranger = createTestNamespace(`${prefix}-s`);
  const hosts: PrivateHost[] = [];
  for (const number of [1, 2, 3, 4])
    hosts.push(await createPrivateHost({ name: `${options.name}-n${number}` }));
  const close = async (): Promise<void> => {
    await Promise.all(nodes.map(async (node) => node.engine.close()));
    await Promise.all(hosts.map(async (host) => host.close()));
    for (const pid of processesIn(new Set([router.inode, stranger.inode]))) process.kill(pid, 'SIGKILL');
    for (const namespace of [router, stranger]) namespace.delete();
  };
  const nodes: FabricNode[] = [];
  try {
    await wireRouter(router);
    for (const [index, host] of hosts.entries()) await wireHost(host, router, index + 1);
    await wireStranger(stranger, router);
    nodes.push(...hosts.map((host, index) => createNode(host, index + 1, options)));
    for (const node of nodes) await node.meet(nodes.filter((other) => other !== node));
    return { nodes, router, stranger, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A bridge for the segment of nodes 1 to 3, a leg for node 4. */
async function wireRouter(router: TestNamespace): Promise<void> {
  for (const key of ['net/ipv4/ip_forward', 'net/ipv6/conf/all/forwarding'])
    router.inside(() => fs.writeFileSync(`/proc/sys/${key}`, '1'));
  await router.ip(
    'link set lo up',
    `addr add ${beyond.ipv4}/32 dev lo`,
    `addr add ${beyond.ipv6}/128 dev lo nodad`,
    'link add near type bridge stp_state 0',
    'link set near up',
    `addr add ${subnets.near[0]}.254/24 dev near`,
    `addr add ${subnets.near[1]}fe/64 dev near nodad`,
  );
}

async function wireHost(host: PrivateHost, router: TestNamespace, number: number): Promise<void> {
  const [v4, v6] = subnetOf(number);
  await join(host.namespace, router, `node${number}`, number);
  if (number === 4) await router.ip(`addr add ${v4}.254/24 dev node4`, `addr add ${v6}fe/64 dev node4 nodad`);
  await host.namespace.ip(`route add default via ${v4}.254`, `route add default via ${v6}fe`);
  for (const [key, value] of Object.entries(strict))
    host.namespace.inside(() => fs.writeFileSync(`/proc/sys/${key}`, value));
}

/** A wire `eth0` from a machine to the router: into its bridge, but for node 4. */
async function join(
  machine: TestNamespace,
  router: TestNamespace,
  port: string,
  number: number,
): Promise<void> {
  const [v4, v6] = subnetOf(number);
  await machine.ip('link set lo up', `link add eth0 type veth peer name ${port} netns ${router.name}`);
  await machine.ip(
    'link set eth0 addrgenmode none',
    'link set eth0 up',
    `addr add fe80::${number}/64 dev eth0 scope link nodad`,
    `addr add ${v4}.${number}/24 dev eth0`,
    `addr add ${v6}${number}/64 dev eth0 nodad`,
  );
  await router.ip(`link set ${port} up`, ...(number === 4 ? [] : [`link set ${port} master near`]));
}

async function wireStranger(stranger: TestNamespace, router: TestNamespace): Promise<void> {
  await join(stranger, router, 'stranger', 66);
}

function createNode(host: PrivateHost, number: number, options: FabricOptions): FabricNode {
  const view = viewOf(number, options);
  const { ipv4, ipv6 } = view.underlay!;
  const peer: PeerView = {
    name: view.name,
    mtu: 1500,
    tunnel: view.tunnel!,
    blocks: view.blocks,
    ...(ipv4 === undefined ? {} : { ipv4 }),
    ...(ipv6 === undefined ? {} : { ipv6 }),
  };
  const owned: Owned = {
    owner: 'node',
    resources: [...model.planNode(view), ...planNodeTraffic([view])],
  };
  const engine = createEngine({ backends: createLinuxBackends(openKernel(host.namespace)) });
  const pods: Owned[] = [];
  const [v4, v6] = subnetOf(number);
  const node: FabricNode = {
    ...{ number, host, engine, view, peer, owned },
    ...{ ipv4: `${v4}.${number}`, ipv6: `${v6}${number}` },
    tunnel: { ipv4: view.tunnel!.ipv4!, ipv6: view.tunnel!.ipv6! },
    restart: (changes = {}) =>
      createEngine({ backends: createLinuxBackends(openKernel(host.namespace)), ...changes }),
    ownedPeers: (peers) =>
      peers.map((other) => ({
        owner: `peer:${other.peer.name}` as const,
        resources: model.planPeer(view, other.peer),
      })),
    async meet(peers) {
      const changes = await engine.reconcile([owned, ...node.ownedPeers(peers), ...pods], call());
      const failed = changes.filter(({ action }) => action === 'failed');
      if (failed.length > 0)
        throw new AggregateError(
          failed.map(({ error }) => error),
          JSON.stringify(failed),
        );
    },
    async addPod(addresses = {}) {
      const last = pods.length + 2;
      const place = {
        ipv4: addresses.ipv4 ?? `10.244.${number}.${last}`,
        ipv6: addresses.ipv6 ?? `fd00:244:0:${number}::${last}`,
      };
      const namespace = host.addPod();
      const endpoint = endpointOf(number, last, place);
      const { resources } = model.planEndpoint(endpoint, view);
      const wired = { owner: `endpoint:${last}`, resources, namespace: identify(namespace) } as const;
      await engine.apply(wired, call());
      pods.push(wired);
      return { namespace, ...place };
    },
  };
  return node;
}

function viewOf(number: number, options: FabricOptions): NodeView {
  const { encapsulation, underlay = families, natOutgoing = true } = options;
  const pool = (name: string, cidr: string): PoolView => ({ name, cidr, natOutgoing, encapsulation });
  const pools = [pool('four', '10.244.0.0/16'), pool('six', 'fd00:244::/48')];
  const [v4, v6] = subnetOf(number);
  const view: NodeView = {
    name: `node${number}`,
    network: { name: 'default', model: 'routed', pools },
    blocks: [`10.244.${number}.0/26`, `fd00:244:0:${number}::/122`],
    mtu: 0,
    ipv4: true,
    ipv6: true,
    underlay: {
      ...{ link: 'eth0', mtu: 1500 },
      ...(underlay.includes('ipv4') ? { ipv4: `${v4}.${number}/24` } : {}),
      ...(underlay.includes('ipv6') ? { ipv6: `${v6}${number}/64` } : {}),
    },
    tunnel: {
      ...{
        mac: model.nodeIdentity!(`node${number}`).tunnelMac,
        ipv4: `10.244.${number}.1`,
        ipv6: `fd00:244:0:${number}::1`,
      },
    },
  };
  return { ...view, mtu: model.podMtu(view) };
}

function endpointOf(node: number, last: number, place: Readonly<Record<FamilyName, string>>): Endpoint {
  return {
    id: { containerId: `container-${node}-${last}`, ifName: 'eth0', network: 'default' },
    pod: { namespace: 'default', name: `pod-${node}-${last}` },
    leases: families.map((family) => ({ address: place[family], pool: family })),
    mac: `02:00:00:00:0${node}:${last.toString(16).padStart(2, '0')}`,
    portMappings: [],
  };
}

function identify(namespace: TestNamespace): NamespaceIdentity {
  const handle = openNamespace(namespace.path);
  const { path, device, inode } = handle;
  handle.close();
  return { path, device, inode };
}
