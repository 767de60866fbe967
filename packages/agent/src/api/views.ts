/** Answers of the API. These shapes are what `podwire … -o json` prints, so they are part of the interface. */
import type { Drift, KindRegistry, Resource } from '@podwire/engine';
import type { PoolReport } from '@podwire/ipam';
import { type Bandwidth, endpointKey, type PortMapping } from '@podwire/network-contract';
import { compact } from '@podwire/platform';
import type { Network } from '../networks.js';
import { hostLinks } from '../endpoints/registry.js';
import type { EndpointRecord } from '../records/record.js';

export interface EndpointView {
  readonly key: string;
  readonly containerId: string;
  readonly ifName: string;
  /** The network of the agent's configuration. */
  readonly network: string;
  /** The CNI network, of the plugin configuration. */
  readonly cniNetwork: string;
  readonly pod: { readonly namespace?: string; readonly name?: string; readonly uid?: string };
  readonly phase: string;
  readonly addresses: readonly string[];
  readonly mac: string;
  /** Name of the link on the node. */
  readonly hostInterface: string;
  readonly netns: string;
  readonly portMappings: readonly PortMapping[];
  /** Settings that work, but are rarely meant, as they are now. Absent: an agent of an earlier version. */
  readonly warnings?: readonly string[];
  readonly bandwidth?: Bandwidth;
  /** RFC 3339 */
  readonly createdAt: string;
}

export function viewEndpoint(record: EndpointRecord, warnings: readonly string[]): EndpointView {
  const { id, pod, phase, leases, endpoint, namespace, createdAt } = record;
  return {
    key: endpointKey(id),
    containerId: id.containerId,
    ifName: id.ifName,
    network: endpoint.network,
    cniNetwork: id.network,
    pod,
    phase,
    addresses: leases.map(({ address }) => address),
    mac: endpoint.mac,
    hostInterface: hostLinks(record)[0] ?? '',
    netns: namespace.path,
    portMappings: endpoint.portMappings,
    warnings,
    ...compact({ bandwidth: endpoint.bandwidth }),
    createdAt: new Date(createdAt).toISOString(),
  };
}

/** Numbers of addresses as decimal text: an IPv6 pool has more than a JSON number can count. */
export function viewPool(report: PoolReport): object {
  const { name, cidr, size, used, cooling, reserved, free, blocks } = report;
  return { name, cidr, size: `${size}`, used, cooling, reserved: `${reserved}`, free: `${free}`, blocks };
}

/** @param podOf the pod behind the key of an endpoint, which is what owns an address */
export function viewIpam({ view, ipam }: Network, podOf: (owner: string) => string | undefined): object {
  const named = <T extends { readonly owner: string }>(lease: T) => ({
    ...lease,
    ...compact({ pod: podOf(lease.owner) }),
  });
  return {
    network: view.name,
    pools: ipam.report().map(viewPool),
    leases: ipam
      .leases()
      .map(({ since, ...lease }) => named({ ...lease, since: new Date(since).toISOString() })),
    foreign: ipam.foreignLeases().map(({ address, owner }) => named({ address, owner })),
  };
}

/** Every resource of a list beside what the kernel has. */
export interface ExplainedResource {
  readonly resource: Resource;
  readonly state: 'ok' | Drift['state'];
  readonly detail?: string;
  /** Its repair interrupts traffic: it cannot be put right in place. */
  readonly gap?: true;
}

export function explainResources(
  kinds: Pick<KindRegistry, 'isRepairedInPlace'>,
  resources: readonly Resource[],
  drifts: readonly Drift[],
): ExplainedResource[] {
  const found = new Map(drifts.map((drift) => [JSON.stringify(drift.resource), drift]));
  return resources.map((resource) => {
    const drift = found.get(JSON.stringify(resource));
    if (drift === undefined) return { resource, state: 'ok' };
    const { state, detail, foreign } = drift;
    const isReplaced = state === 'changed' && foreign === undefined;
    const hasGap = isReplaced && !kinds.isRepairedInPlace(resource);
    return { resource, state, detail, ...(hasGap ? { gap: true } : {}) };
  });
}
