/** Participants and unused addresses of a testbed. */
import { addressAt, familyOf, formatAddress, parsePrefix, prefixSize } from '@podwire/addresses';
import { type LocalApi, openLocalApi } from '@podwire/local-api';
import type { TestbedNamespace } from '../net/namespaces.js';
import type { TestbedPod } from '../run/pods.js';
import { type FamilyAddresses, type PlannedNode, type Topology, withoutLength } from '../shape.js';
import { askAgents } from './expected.js';
import type { Addresses, Station, UnusedAddress } from './participant.js';
import { type ConnectivityReport, probeConnectivity, type ProbeOptions } from './run.js';

interface ProbedNode extends PlannedNode {
  readonly namespace: TestbedNamespace;
  readonly agent: { readonly apiSocket: string };
}

/** The part of a testbed that probes need. */
export interface Probed {
  readonly topology: Topology;
  readonly fabric: TestbedNamespace;
  readonly nodes: readonly ProbedNode[];
  readonly pods: readonly TestbedPod[];
}

export async function probeTestbed(testbed: Probed, options?: ProbeOptions): Promise<ConnectivityReport> {
  const unusedAddresses = await Promise.all(testbed.nodes.map(findUnusedAddresses));
  const askPolicy = askAgents(testbed.nodes.map((node) => ({ node: node.name, api: openAgent(node) })));
  return probeConnectivity(stationsOf(testbed), unusedAddresses.flat(), { askPolicy, ...options });
}

const openAgent = ({ name, agent }: ProbedNode): LocalApi =>
  openLocalApi({
    socket: agent.apiSocket,
    peer: { name, unreachable: 'AGENT_UNREACHABLE' },
    timeout,
  });

export function stationsOf({ pods, nodes, fabric, topology }: Probed): Station[] {
  return [
    ...nodes
      .flatMap(({ name }) =>
        pods.filter((pod) => pod.node === name && pod.addresses.length > 0).toSorted(byName),
      )
      .map(({ namespace, name, node, addresses, network }): Station => {
        const own = Object.fromEntries(addresses.map((address) => [familyOf(address), address]));
        return { name: `${namespace}/${name}`, kind: 'pod', node, addresses: own, namespace: network };
      }),
    ...nodes.map(({ name, addresses, namespace }): Station => {
      return { name, kind: 'node', node: name, addresses: byFamily(addresses), namespace };
    }),
    {
      ...{ name: 'outside', kind: 'outside', addresses: byFamily(topology.outside), namespace: fabric },
      aliases: topology.segments.flatMap(({ gateway }) => Object.values(gateway).map(withoutLength)),
    },
  ];
}

/** `pod1b` before `pod1aa`: pods are attached in any order. */
const byName = (a: TestbedPod, b: TestbedPod): number =>
  a.name.length - b.name.length || (a.name < b.name ? -1 : 1);

const byFamily = ({ ipv4, ipv6 }: FamilyAddresses): Addresses => ({
  ...(ipv4 === undefined ? {} : { 4: withoutLength(ipv4) }),
  ...(ipv6 === undefined ? {} : { 6: withoutLength(ipv6) }),
});

/** The part of the agent's IPAM view that is read here. */
interface IpamView {
  readonly networks: readonly {
    readonly pools: readonly { readonly blocks: readonly { readonly cidr: string }[] }[];
    readonly leases: readonly { readonly address: string }[];
  }[];
}

/** Milliseconds: an agent may be frozen. */
const timeout = 1_000;

/** One unused address of each family; none when the agent does not answer, since its blocks are unknown then. */
async function findUnusedAddresses(node: ProbedNode): Promise<UnusedAddress[]> {
  const { name } = node;
  const api = openAgent(node);
  const { networks } = await api.get<IpamView>('/v1/ipam').catch((): IpamView => ({ networks: [] }));
  const taken = new Set(networks.flatMap(({ leases }) => leases.map(({ address }) => address)));
  const blocks = networks.flatMap(({ pools }) =>
    pools.flatMap((pool) => pool.blocks.map(({ cidr }) => cidr)),
  );
  return ([4, 6] as const).flatMap((family) => {
    const address = blocks
      .filter((cidr) => familyOf(cidr) === family)
      .map((cidr) => findFree(cidr, taken))
      .find((found) => found !== undefined);
    return address === undefined ? [] : [{ node: name, address }];
  });
}

/** Searches from the end, which IPAM hands out last; the very last may be a broadcast address. */
function findFree(cidr: string, taken: ReadonlySet<string>): string | undefined {
  const prefix = parsePrefix(cidr);
  for (let offset = prefixSize(prefix) - 2n; offset > 0n; offset--) {
    const text = formatAddress(addressAt(prefix.address, offset));
    if (!taken.has(text)) return text;
  }
  return undefined;
}
