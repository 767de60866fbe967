/** From the request of an ADD to the endpoint's record: addresses, plan and result. Changes nothing but the addresses. */
import { isDeepStrictEqual } from 'node:util';
import type { NamespaceIdentity } from '@podwire/engine';
import { parsePrefix } from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import type { PodAddresses } from '@podwire/cluster-ipam';
import type { Ipam, LeaseRequest } from '@podwire/ipam';
import {
  type Annotations,
  type Attachment,
  type Endpoint,
  type EndpointId,
  endpointKey,
  type FoundLink,
  type LeaseRecord,
  type NodeView,
  type PlannedEndpoint,
} from '@podwire/network-contract';
import type { Read } from '@podwire/planner';
import { compact } from '@podwire/platform';
import type { Network } from '../networks.js';
import { buildAnswer } from './answers.js';
import { answerDelegated, type Delegation } from './delegation.js';
import type { EndpointDetails, EndpointRecord } from '../records/record.js';
import type { AddRequest } from './read-request.js';

/** One endpoint as an ADD specifies it. */
export interface EndpointSpec {
  readonly id: EndpointId;
  readonly network: Network;
  readonly namespace: NamespaceIdentity;
  readonly request: AddRequest;
  /** The addresses of the pod's workload; only in a cluster. */
  readonly workload?: PodAddresses;
  /** In the namespace, of those that the model looks for. */
  readonly foundLinks?: readonly FoundLink[];
  /** Another plugin wires the pod and requests only its addresses. */
  readonly delegation?: Delegation;
}

export interface PlanTools {
  /** The network's, or a copy of it. */
  readonly ipam: Ipam;
  /** Facts, for models whose pods belong to something. */
  readonly read: Read;
  /** Called after the addresses are allocated, since they may come from a new block. */
  readonly view: () => NodeView;
  readonly random: (bytes: number) => Uint8Array;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Reports if another endpoint has the host-side link of this name. */
  readonly isLinkTaken: (name: string) => boolean;
}

/**
 * Allocates and plans. Synchronous, so that no other ADD runs in between.
 * @throws PodwireError POOL_EXHAUSTED, ADDRESS_IN_USE, ADDRESS_NOT_IN_POOL, REQUEST_INVALID; then nothing is allocated
 */
export function planEndpoint(spec: EndpointSpec, tools: PlanTools): EndpointRecord {
  const attachment = resolveAttachment(spec, tools.read);
  const leases = allocate(spec, attachment, tools);
  try {
    const endpoint = describeEndpoint(spec, attachment, leases, tools);
    return toRecord(endpoint, planContent(spec, endpoint, tools), spec, tools.now);
  } catch (error) {
    tools.ipam.release(endpointKey(spec.id));
    throw error;
  }
}

/** Reports if the pod belongs to something else than when it was planned. @throws PodwireError as the model's `resolve` */
export const hasMoved = ({ pod, endpoint }: EndpointRecord, { model, view }: Network, read: Read): boolean =>
  endpoint.attachment !== undefined &&
  !isDeepStrictEqual(model.resolve?.(pod, view, read), endpoint.attachment);

/** Plans an endpoint again, with the addresses and names that it has, for where its pod belongs now. @throws as the model does */
export function replanEndpoint(
  record: EndpointRecord,
  network: Network,
  tools: Pick<PlanTools, 'view' | 'isLinkTaken' | 'read'>,
): EndpointRecord {
  const { id, pod, leases, endpoint, namespace } = record;
  const { mac, portMappings, bandwidth, foundLinks, annotations } = endpoint;
  const attachment = network.model.resolve?.(pod, network.view, tools.read);
  const asked = { mac, portMappings, bandwidth, annotations };
  const spec = compact({ id, pod, leases, ...asked, attachment, foundLinks, netns: namespace.path });
  const { resources, needs } = plan(network, spec, tools);
  return compact({ ...record, resources, needs, endpoint: compact({ ...endpoint, attachment }) });
}

/** A pod that another plugin wires belongs to nothing here. @throws PodwireError as the model's `resolve` */
function resolveAttachment(
  { network: { model, view }, request, delegation }: Omit<EndpointSpec, 'namespace'>,
  read: Read,
): Attachment | undefined {
  return delegation === undefined ? model.resolve?.(request.pod, view, read) : undefined;
}

function allocate(
  spec: EndpointSpec,
  attachment: Attachment | undefined,
  { ipam, view }: PlanTools,
): readonly LeaseRecord[] {
  const { assigned } = spec.network.model;
  if (assigned !== undefined && attachment !== undefined) return assigned.of(attachment);
  const families = wantedFamilies(spec.request, spec.network, view());
  return ipam.allocate({ owner: endpointKey(spec.id), families, ...wantedAddresses(spec) });
}

/** Where the addresses may come from: the pod's own request comes before its workload. */
export function wantedAddresses({
  request,
  network,
  workload,
}: Pick<EndpointSpec, 'request' | 'network' | 'workload'>): Pick<
  LeaseRequest,
  'requested' | 'preferred' | 'pools' | 'workload'
> {
  const requested = request.addresses.length > 0 ? request.addresses : (workload?.requested ?? []);
  return compact({
    requested: requested.length === 0 ? undefined : requested,
    pools: wantedPools(request, network) ?? workload?.pools,
    preferred: workload?.preferred,
    workload: workload?.workload,
  });
}

/**
 * The requested families, or else all of the network; in any case only those of the node.
 * @throws PodwireError CONFIG_INVALID when none is left; POOL_EXHAUSTED when the network has no pool at all
 */
export function wantedFamilies(
  request: Pick<AddRequest, 'families'>,
  network: Network,
  node: NodeView,
): (4 | 6)[] {
  const spoken = ([4, 6] as const).filter((family) => (family === 4 ? node.ipv4 : node.ipv6));
  const wanted = spoken.filter((family) => (request.families ?? network.families).includes(family));
  if (wanted.length > 0) return wanted;
  // The controller decides.
  if (network.model.assigned !== undefined) return spoken;
  if (network.families.length === 0) throw noPool(network, node);
  const message = `network ${network.view.name} has no pool of an address family that is requested and that node ${node.name} speaks`;
  throw new PodwireError('CONFIG_INVALID', message);
}

/** In a cluster pools are created, deleted and disabled while agents run. */
function noPool({ view }: Network, { name }: NodeView): PodwireError {
  return new PodwireError(
    'POOL_EXHAUSTED',
    `network ${view.name} has no pool that is enabled and selects node ${name}`,
    { action: 'Add a pool, enable one of the network, or change a node selector.' },
  );
}

/** Restricting one family leaves the other as free as it is. */
function wantedPools({ pools }: AddRequest, { pools: all }: Network): string[] | undefined {
  if (pools === undefined) return undefined;
  const any = (family: 4 | 6): string[] =>
    all.filter(({ cidr }) => parsePrefix(cidr).family === family).map(({ name }) => name);
  return [...(pools.ipv4 ?? any(4)), ...(pools.ipv6 ?? any(6))];
}

function describeEndpoint(
  { id, request, foundLinks, network, namespace }: EndpointSpec,
  attachment: Attachment | undefined,
  leases: readonly LeaseRecord[],
  { random }: PlanTools,
): Endpoint {
  const { pod, mac: requestedMac, portMappings, bandwidth } = request;
  const mac = requestedMac ?? makeMac(random);
  const given = leases.map(({ address, pool }) => ({ address, pool }));
  const annotations = askedAnnotations(network, request);
  const asked = { mac, requestedMac, portMappings, bandwidth, annotations };
  return compact({ id, pod, leases: given, ...asked, attachment, foundLinks, netns: namespace.path });
}

/** Annotations by which the pod asks for addresses and rates; undefined where its model reads none, or there are none. */
export function askedAnnotations({ model }: Network, request: AddRequest): Annotations | undefined {
  const asked = model.assigned?.ask(request) ?? {};
  return Object.keys(asked).length === 0 ? undefined : asked;
}

/** A random MAC address: locally administered, of one station (IEEE 802: bit 1 of the first byte set, bit 0 clear). */
function makeMac(random: (bytes: number) => Uint8Array): string {
  const bytes = Buffer.from(random(6));
  bytes[0] = (bytes[0]! & 0xfc) | 0x02;
  return bytes.toString('hex').replace(/..(?!$)/g, '$&:');
}

function plan(
  { model }: Network,
  endpoint: Endpoint,
  { view, isLinkTaken }: Pick<PlanTools, 'view' | 'isLinkTaken'>,
): PlannedEndpoint {
  const planned = model.planEndpoint(endpoint, view());
  if (!hostLinksOf(planned).some(isLinkTaken)) return planned;
  return model.planEndpoint({ ...endpoint, nameTaken: true }, view());
}

const hostLinksOf = ({ links }: PlannedEndpoint): string[] =>
  links.filter(({ side }) => side === 'host').map(({ name }) => name);

/** The resources of the node and the result of the plugin. */
type Content = Pick<EndpointRecord, 'resources' | 'needs' | 'answer'> & {
  readonly hostLinks: readonly string[];
};

function planContent(spec: EndpointSpec, endpoint: Endpoint, tools: PlanTools): Content {
  const { delegation, network, namespace, request } = spec;
  const { leases } = endpoint;
  if (delegation !== undefined) {
    return { resources: [], answer: answerDelegated(delegation, leases, network.pools), hostLinks: [] };
  }
  const planned = plan(network, endpoint, tools);
  return {
    resources: planned.resources,
    hostLinks: hostLinksOf(planned),
    ...compact({ needs: planned.needs }),
    answer: buildAnswer(compact({ planned, leases, netns: namespace.path, dns: request.dns })),
  };
}

function toRecord(
  endpoint: Endpoint,
  { resources, needs, answer, hostLinks }: Content,
  { network, namespace, request }: EndpointSpec,
  now: number,
): EndpointRecord {
  const { id, pod, leases, mac, attachment, annotations, foundLinks, portMappings, bandwidth } = endpoint;
  const details: EndpointDetails = compact({
    network: network.view.name,
    mac,
    portMappings,
    hostLinks,
    bandwidth,
    attachment,
    annotations,
    foundLinks,
  });
  return {
    version: 1,
    id,
    phase: 'wiring',
    pod,
    namespace,
    leases,
    endpoint: details,
    resources,
    ...compact({ needs }),
    answer,
    createdAt: now,
    facts: request.facts,
  };
}
