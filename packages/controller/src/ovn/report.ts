/** The logical network as people look at it: VPCs, their subnets, and who is in these. Pure. */
import { JOIN_SUBNET, nodePortName, type OvnFacts, type OvnSubnet, podPortName } from '@podwire/cluster-ovn';
import type { PodwireError } from '@podwire/errors';

/** Differences from what shall be, in words, of one scope: `ovn-subnet/blue`. */
export type DriftByScope = ReadonlyMap<string, readonly string[]>;

export interface NetworkReport {
  readonly vpcs: readonly VpcReport[];
  /** Subnets of VPCs that are not there. */
  readonly orphans: readonly SubnetReport[];
  /** Those of no subnet alone, each with its code in front. */
  readonly problems: readonly string[];
}

export interface VpcReport {
  readonly name: string;
  readonly isDefault: boolean;
  readonly routes: readonly string[];
  readonly subnets: readonly SubnetReport[];
  readonly drift: readonly string[];
}

export interface SubnetReport {
  readonly name: string;
  readonly cidrs: readonly string[];
  readonly gateways: readonly string[];
  /** In words; empty for the subnet of the nodes: `through each pod's node`, `through n1, n2`, `on net1, VLAN 10`. */
  readonly wayOut: string;
  /** Why it is not as its object says. */
  readonly fault?: string;
  readonly ports: readonly PortReport[];
  readonly drift: readonly string[];
}

export interface PortReport {
  /** Of the logical port. */
  readonly name: string;
  readonly pod?: string;
  /** That it is the end of, or that the pod is on. */
  readonly node?: string;
  readonly addresses: readonly string[];
  readonly mac: string;
  readonly drift: readonly string[];
}

export function describeNetwork(
  facts: OvnFacts,
  drift: DriftByScope,
  problems: readonly PodwireError[],
): NetworkReport {
  const ports = listPorts(facts, drift);
  const subnets = sortNames(facts.subnets).map(([name, subnet]) =>
    describeSubnet(name, subnet, { vpcs: facts.vpcs, ports: ports.get(name) ?? [], drift }),
  );
  const inVpc = (vpc: string) => subnets.filter(({ name }) => facts.subnets.get(name)!.vpc === vpc);
  return {
    vpcs: sortNames(facts.vpcs).map(([name, { isDefault, staticRoutes }]) => ({
      ...{ name, isDefault, subnets: inVpc(name), drift: drift.get(`ovn-vpc/${name}`) ?? [] },
      routes: staticRoutes.map(({ policy, cidr, nextHopIP }) =>
        policy === 'policySrc' ? `from ${cidr} via ${nextHopIP}` : `${cidr} via ${nextHopIP}`,
      ),
    })),
    orphans: subnets.filter(({ name }) => !facts.vpcs.has(facts.subnets.get(name)!.vpc)),
    problems: listProblems(problems, facts),
  };
}

function listProblems(problems: readonly PodwireError[], { subnets }: OvnFacts): string[] {
  const faults = new Set([...subnets.values()].map(({ fault }) => fault?.message));
  const others = problems.filter(({ message }) => !faults.has(message));
  return [...new Set(others.map(({ code, message }) => `${code}: ${message}`))];
}

interface SubnetContext {
  readonly vpcs: OvnFacts['vpcs'];
  readonly ports: readonly PortReport[];
  readonly drift: DriftByScope;
}

function describeSubnet(
  name: string,
  subnet: OvnSubnet,
  { vpcs, ports, drift }: SubnetContext,
): SubnetReport {
  const { ranges, fault, vpc } = subnet;
  return {
    ...{
      name,
      ports,
      wayOut: name === JOIN_SUBNET ? '' : describeWayOut(subnet, vpcs.get(vpc)?.isDefault === true),
    },
    cidrs: ranges.map(({ cidr }) => cidr),
    gateways: ranges.map(({ gateway }) => gateway),
    ...(fault === undefined ? {} : { fault: fault.message }),
    drift: drift.get(`ovn-subnet/${name}`) ?? [],
  };
}

function describeWayOut({ underlay, egress }: OvnSubnet, isInDefaultVpc: boolean): string {
  if (underlay !== undefined)
    return underlay.vlan === 0 ? `on ${underlay.provider}` : `on ${underlay.provider}, VLAN ${underlay.vlan}`;
  if (!isInDefaultVpc) return 'by the routes of its VPC';
  if (egress.type === 'distributed') return "through each pod's node";
  return egress.nodes.length === 0 ? 'nowhere: no gateway is there' : `through ${egress.nodes.join(', ')}`;
}

/** By subnet, in the order of their names; nodes come first. */
function listPorts(
  { nodes, pods }: OvnFacts,
  drift: DriftByScope,
): ReadonlyMap<string, readonly PortReport[]> {
  const ofNodes = sortNames(nodes).map(([node, { mac, joinAddresses: addresses }]) => {
    const port = {
      name: nodePortName(node),
      node,
      addresses,
      mac,
      drift: drift.get(`ovn-node/${node}`) ?? [],
    };
    return [JOIN_SUBNET, port] as const;
  });
  const ofPods = sortNames(pods).map(([pod, { namespace, name, node, subnet, mac, addresses }]) => {
    const common = { name: podPortName(namespace, name), pod, addresses, mac };
    const port = { ...common, drift: drift.get(`ovn-pod/${pod}`) ?? [] };
    return [subnet, node === undefined ? port : { ...port, node }] as const;
  });
  const found = new Map<string, PortReport[]>();
  for (const [subnet, port] of [...ofNodes, ...ofPods])
    found.set(subnet, [...(found.get(subnet) ?? []), port]);
  return found;
}

const sortNames = <T>(facts: ReadonlyMap<string, T>): [string, T][] =>
  [...facts].sort(([a], [b]) => (a < b ? -1 : 1));
