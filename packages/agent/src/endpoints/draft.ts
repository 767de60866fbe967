/** From what an ADD asks for to what the node must have: addresses, plan and record. Changes nothing but the addresses. */
import type { NamespaceIdentity } from '@podwire/engine';
import { PodwireError } from '@podwire/errors';
import type { PodAddresses } from '@podwire/cluster-ipam';
import type { Ipam, Lease, LeaseRequest } from '@podwire/ipam';
import {
  type Endpoint,
  type EndpointId,
  endpointKey,
  type NodeView,
  type PlannedEndpoint,
} from '@podwire/network-contract';
import type { Network } from '../networks.js';
import { buildAnswer } from './answers.js';
import { answerDelegated, type Delegation } from './delegation.js';
import { makeMac } from './mac.js';
import type { AgentRecord, EndpointDetails } from './registry.js';
import type { Wish } from './wish.js';

/** An ADD, understood. */
export interface AddRequest {
  readonly id: EndpointId;
  readonly network: Network;
  readonly namespace: NamespaceIdentity;
  readonly wish: Wish;
  /** What the pod's workload gives it; only in a cluster. */
  readonly given?: PodAddresses;
  /** Another plugin wires the pod, and asks only for its addresses. */
  readonly delegation?: Delegation;
}

/** What a draft is made with. */
export interface DraftTools {
  /** Of the network, or a copy of it. */
  readonly ipam: Ipam;
  /** Asked after the addresses are allocated, since they may come from a new block. */
  readonly view: () => NodeView;
  readonly random: (bytes: number) => Uint8Array;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether another endpoint has the host-side link of this name. */
  readonly isLinkTaken: (name: string) => boolean;
}

/**
 * Allocates and plans. Synchronous: nobody comes between two drafts.
 * @throws PodwireError POOL_EXHAUSTED, ADDRESS_IN_USE, ADDRESS_NOT_IN_POOL, REQUEST_INVALID; then nothing is allocated
 */
export function draftEndpoint(asked: AddRequest, tools: DraftTools): AgentRecord {
  const leases = allocate(asked, tools);
  try {
    const endpoint = describeEndpoint(asked, leases, tools);
    return toRecord(endpoint, make(asked, endpoint, tools), asked, tools.now);
  } catch (error) {
    tools.ipam.release(endpointKey(asked.id));
    throw error;
  }
}

function allocate(asked: AddRequest, { ipam, view }: DraftTools): Lease[] {
  const families = wantedFamilies(asked.wish, asked.network, view());
  return ipam.allocate({ owner: endpointKey(asked.id), families, ...wantedAddresses(asked) });
}

/** Where the addresses may come from: what the pod asks for counts before what its workload gives it. */
export function wantedAddresses({
  wish,
  network,
  given,
}: AddRequest): Pick<LeaseRequest, 'requested' | 'preferred' | 'pools' | 'workload'> {
  const requested = wish.addresses.length > 0 ? wish.addresses : (given?.requested ?? []);
  const pools = wantedPools(wish, network) ?? given?.pools;
  return {
    ...(requested.length === 0 ? {} : { requested }),
    ...(pools === undefined ? {} : { pools }),
    ...(given === undefined ? {} : { preferred: given.preferred, workload: given.workload }),
  };
}

const familyOf = (cidr: string): 4 | 6 => (cidr.includes(':') ? 6 : 4);

/**
 * The families that are wanted, or else all that the network can give; in any case only what the node speaks.
 * @throws PodwireError CONFIG_INVALID when nothing is left; POOL_EXHAUSTED when nobody could get anything
 */
export function wantedFamilies(wish: Pick<Wish, 'families'>, network: Network, node: NodeView): (4 | 6)[] {
  const spoken = ([4, 6] as const).filter((family) => (family === 4 ? node.ipv4 : node.ipv6));
  const wanted = spoken.filter((family) => (wish.families ?? network.families).includes(family));
  if (wanted.length > 0) return wanted;
  if (network.families.length === 0) throw noPool(network, node);
  const message = `network ${network.view.name} has no pool of an address family that is wanted and that node ${node.name} speaks`;
  throw new PodwireError('CONFIG_INVALID', message);
}

/** Pools of a cluster are no configuration: they come, go and are disabled while agents run. */
function noPool({ view }: Network, { name }: NodeView): PodwireError {
  return new PodwireError(
    'POOL_EXHAUSTED',
    `network ${view.name} has no pool that is enabled and selects node ${name}`,
  );
}

/** Restricting one family leaves the other as free as it is. */
function wantedPools({ pools }: Wish, { pools: all }: Network): string[] | undefined {
  if (pools === undefined) return undefined;
  const any = (family: 4 | 6): string[] =>
    all.filter(({ cidr }) => familyOf(cidr) === family).map(({ name }) => name);
  return [...(pools.ipv4 ?? any(4)), ...(pools.ipv6 ?? any(6))];
}

function describeEndpoint(
  { id, wish }: AddRequest,
  leases: readonly Lease[],
  { random }: DraftTools,
): Endpoint {
  return {
    id,
    pod: wish.pod,
    leases: leases.map(({ address, pool }) => ({ address, pool })),
    mac: wish.mac ?? makeMac(random),
    portMappings: wish.portMappings,
    ...(wish.bandwidth === undefined ? {} : { bandwidth: wish.bandwidth }),
  };
}

function plan({ model }: Network, endpoint: Endpoint, { view, isLinkTaken }: DraftTools): PlannedEndpoint {
  const planned = model.planEndpoint(endpoint, view());
  if (!hostLinksOf(planned).some(isLinkTaken)) return planned;
  return model.planEndpoint({ ...endpoint, nameTaken: true }, view());
}

const hostLinksOf = ({ links }: PlannedEndpoint): string[] =>
  links.filter(({ side }) => side === 'host').map(({ name }) => name);

/** What the node must have for it, and what its plugin is told. */
type Made = Pick<AgentRecord, 'resources' | 'answer'> & { readonly hostLinks: readonly string[] };

function make(asked: AddRequest, endpoint: Endpoint, tools: DraftTools): Made {
  const { delegation, network, namespace, wish } = asked;
  const { leases } = endpoint;
  if (delegation !== undefined) {
    return { resources: [], answer: answerDelegated(delegation, leases, network.pools), hostLinks: [] };
  }
  const planned = plan(network, endpoint, tools);
  const dns = wish.dns === undefined ? {} : { dns: wish.dns };
  return {
    resources: planned.resources,
    hostLinks: hostLinksOf(planned),
    answer: buildAnswer({ planned, leases, netns: namespace.path, ...dns }),
  };
}

function toRecord(
  endpoint: Endpoint,
  { resources, answer, hostLinks }: Made,
  asked: AddRequest,
  now: number,
): AgentRecord {
  const { id, pod, leases, mac, portMappings, bandwidth } = endpoint;
  const { network, namespace } = asked;
  const details: EndpointDetails = {
    network: network.view.name,
    mac,
    portMappings,
    hostLinks,
    ...(bandwidth === undefined ? {} : { bandwidth }),
  };
  return {
    version: 1,
    id,
    phase: 'wiring',
    pod,
    namespace,
    leases,
    endpoint: details,
    resources,
    answer,
    createdAt: now,
  };
}
