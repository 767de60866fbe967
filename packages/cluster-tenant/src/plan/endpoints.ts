/** Endpoints come and go. */
import { parseAddress } from '@podwire/addresses';
import { chooseAddress, chooseAddress6, macOf } from '../allocation/addresses.js';
import type { Change, ClusterView, Endpoint, GroupEntry, NetworkEntry, Plan } from '../contract.js';
import { endpointId, groupId, keyIn, networkId, networkKey, reservationKey } from '../keys.js';
import type { CreateEndpoint, DeleteEndpoint, UpdateEndpoint } from '../objects/calls.js';
import { invalidField } from '../objects/read-fields.js';
import { conflict, unknownObject } from '../problems.js';

export interface EndpointAnswer {
  readonly EndpointConfig: Endpoint;
}

/**
 * Gives an endpoint its addresses and the id of its group. An endpoint that is there is answered again.
 * @throws PodwireError REQUEST_INVALID, OBJECT_UNKNOWN, TENANT_CONFLICT, TENANT_EXHAUSTED
 */
export function planCreateEndpoint(cluster: ClusterView, request: CreateEndpoint): Plan<EndpointAnswer> {
  const network = requireNetwork(cluster, request);
  const container = request.ConfigEP.Container ?? request.EndpointID;
  if (container === undefined) throw invalidField('endpoint', 'ConfigEP.Container', 'must be given');
  const id = endpointId(networkId(network.config), container);
  const group = findGroup(cluster, id, network, request.ConfigEP.ServiceName ?? request.ServiceName);
  const before = cluster.table('endpoint').get(id);
  if (before !== undefined) {
    requireEqual(before, network, group, request);
    return { changes: [], answer: () => ({ EndpointConfig: before }) };
  }
  const endpoint = buildEndpoint(cluster, { id, container, network, group, request });
  const changes = [
    ...takeReservation(cluster, networkKey(network.config), endpoint.ipAddress),
    { type: 'endpoint', key: id, value: endpoint } as const,
  ];
  return { changes, answer: () => ({ EndpointConfig: endpoint }) };
}

function requireNetwork(
  cluster: ClusterView,
  { TenantName, NetworkName }: Pick<CreateEndpoint, 'TenantName' | 'NetworkName'>,
): NetworkEntry {
  const key = networkKey({ tenantName: TenantName, networkName: NetworkName });
  const network = cluster.table('network').get(key);
  if (network === undefined) throw unknownObject(`network ${key}`);
  return network;
}

/** Endpoints of infra networks are ports of nodes, and in no group. */
function findGroup(
  cluster: ClusterView,
  id: string,
  { config }: NetworkEntry,
  name: string | undefined,
): GroupEntry | undefined {
  if (name === undefined || config.nwType === 'infra') return undefined;
  const key = keyIn(config, name);
  const group = cluster.table('endpointGroup').get(key);
  if (group === undefined) throw unknownObject(`endpointGroup ${key}`);
  // In the original the endpoint then has an address of one network, from the map of another.
  if (group.config.networkName !== config.networkName)
    throw conflict(
      `endpoint ${id}`,
      'ServiceName',
      `names endpointGroup ${key}, which is of network ${group.config.networkName}`,
    );
  return group;
}

/** The same container once more may not ask for something else: it would take the answer for what it asked. */
function requireEqual(
  before: Endpoint,
  { config }: NetworkEntry,
  group: GroupEntry | undefined,
  { ConfigEP }: CreateEndpoint,
): void {
  const object = `endpoint ${before.id}`;
  const there = (field: string, value: string): Error =>
    conflict(object, field, `differs from that of the endpoint which is there, ${value || 'none'}`);
  // `a.b` and `c`, `a` and `b-c`: two networks and two containers can come to one id.
  if (before.netID !== networkId(config)) throw there('NetworkName', before.netID);
  if ((group?.id ?? 0) !== before.endpointGroupId) throw there('ServiceName', before.endpointGroupKey);
  const { IPAddress = before.ipAddress, IPv6Address = before.ipv6Address } = ConfigEP;
  if (!isSameAddress(IPAddress, before.ipAddress)) throw there('ConfigEP.IPAddress', before.ipAddress);
  if (!isSameAddress(IPv6Address, before.ipv6Address))
    throw there('ConfigEP.IPv6Address', before.ipv6Address);
}

/** One address of IPv6 has many texts, and the endpoint has the shortest. An endpoint without IPv6 has an empty text. */
const isSameAddress = (one: string, other: string): boolean =>
  one === other || (other !== '' && parseAddress(one).value === parseAddress(other).value);

interface EndpointParts {
  readonly id: string;
  readonly container: string;
  readonly network: NetworkEntry;
  readonly group: GroupEntry | undefined;
  readonly request: CreateEndpoint;
}

function buildEndpoint(cluster: ClusterView, parts: EndpointParts): Endpoint {
  const { id, container, network, group, request } = parts;
  const { Host = '', IPAddress, IPv6Address } = request.ConfigEP;
  const shared = { subject: `endpoint ${id}`, network, group };
  const ipAddress = chooseAddress(cluster, { ...shared, field: 'ConfigEP.IPAddress', address: IPAddress });
  const wanted6 = { ...shared, field: 'ConfigEP.IPv6Address', address: IPv6Address };
  return {
    id,
    netID: networkId(network.config),
    endpointID: container,
    serviceName: group?.config.groupName ?? '',
    endpointGroupId: group?.id ?? 0,
    endpointGroupKey: group === undefined ? '' : groupId(group.config),
    ipAddress,
    ipv6Address: chooseAddress6(cluster, wanted6) ?? '',
    macAddress: macOf(ipAddress),
    homingHost: Host,
    intfName: '',
    vtepIP: '',
    labels: {},
    containerId: '',
    epCommonName: request.EPCommonName ?? '',
  };
}

function takeReservation(cluster: ClusterView, network: string, address: string): Change[] {
  const key = reservationKey(network, address);
  return cluster.table('reservation').has(key) ? [{ type: 'reservation', key, value: undefined }] : [];
}

const empty: Endpoint = {
  ...{ id: '', netID: '', endpointID: '', serviceName: '', endpointGroupId: 0, endpointGroupKey: '' },
  ...{ ipAddress: '', ipv6Address: '', macAddress: '', homingHost: '', intfName: '', vtepIP: '' },
  ...{ labels: {}, containerId: '', epCommonName: '' },
};

/** An endpoint that is not there is deleted: agents ask again after a failure. */
export function planDeleteEndpoint(cluster: ClusterView, request: DeleteEndpoint): Plan<EndpointAnswer> {
  const { TenantName, NetworkName, EndpointID } = request;
  const netId = networkId({ tenantName: TenantName, networkName: NetworkName });
  const id = endpointId(netId, EndpointID);
  const endpoint = cluster.table('endpoint').get(id);
  if (endpoint === undefined || endpoint.netID !== netId)
    return { changes: [], answer: () => ({ EndpointConfig: empty }) };
  const change = { type: 'endpoint', key: id, value: undefined } as const;
  return { changes: [change], answer: () => ({ EndpointConfig: endpoint }) };
}

/** Notes what a runtime says of a container that has started. One that has died changes nothing: no service has it. */
export function planUpdateEndpoint(cluster: ClusterView, request: UpdateEndpoint): Plan {
  const answer = (): unknown => ({ IPAddress: request.IPAddress ?? '' });
  if (request.Event === 'die') return { changes: [], answer };
  const netId = findNetworkId(cluster, request);
  const id = endpointId(netId, request.EndpointID);
  const before = cluster.table('endpoint').get(id);
  if (before === undefined || before.netID !== netId) throw unknownObject(`endpoint ${id}`);
  const value: Endpoint = {
    ...before,
    labels: request.Labels ?? {},
    containerId: request.ContainerID ?? '',
    epCommonName: request.EPCommonName ?? '',
  };
  return { changes: [{ type: 'endpoint', key: id, value }], answer };
}

function findNetworkId(cluster: ClusterView, { Tenant, Network }: UpdateEndpoint): string {
  const own = { tenantName: Tenant, networkName: Network };
  if (cluster.table('network').has(networkKey(own))) return networkId(own);
  const group = cluster.table('endpointGroup').get(`${Tenant}:${Network}`);
  if (group === undefined) throw unknownObject(`network or endpointGroup ${Tenant}:${Network}`);
  return networkId(group.config);
}
