/** Answers of `inspect`: the object, and how it is in operation. */
import type { ClusterView, Endpoint, GroupEntry, NetworkEntry, ObjectType } from '../contract.js';
import { groupKey, keyIn, networkKey } from '../keys.js';
import { parsePool, parseSubnet } from '../objects/subnet.js';
import { requireEntry } from '../plan/shared.js';
import { unknownObject } from '../problems.js';
import { availableIn, formatRanges, takenInPool, takenOf } from './address-map.js';
import { type Fields, renderObject } from './objects.js';

type Operation = (cluster: ClusterView, key: string) => Fields;

const operations: Partial<Record<ObjectType, Operation>> = {
  tenant: operTenant,
  network: (cluster, key) => operNetwork(cluster, cluster.table('network').get(key)!),
  endpointGroup: (cluster, key) => operGroup(cluster, cluster.table('endpointGroup').get(key)!),
  policy: operPolicy,
  global: (cluster) => operGlobal(cluster),
};

/** `{Config, Oper}`; kinds that are in no operation have a Config alone. @throws PodwireError OBJECT_UNKNOWN */
export function inspectObject(cluster: ClusterView, type: ObjectType, key: string): Fields {
  requireEntry(cluster, type, key);
  const oper = operations[type];
  const Config = renderObject(cluster, type, key);
  return oper === undefined ? { Config } : { Config, Oper: withoutEmpty(oper(cluster, key)) };
}

/** The endpoint whose id, container or name has the text in it, as the original looks. @throws PodwireError OBJECT_UNKNOWN */
export function inspectEndpoint(cluster: ClusterView, text: string): Fields {
  const found =
    cluster.table('endpoint').get(text) ??
    [...cluster.table('endpoint').values()].find((each) =>
      [each.endpointID, each.containerId, each.epCommonName].some((part) => part.includes(text)),
    );
  if (found === undefined) throw unknownObject(`endpoint ${text}`);
  return { Oper: withoutEmpty({ key: text, ...operEndpoint(found) }) };
}

function operEndpoint(endpoint: Endpoint): Fields {
  const labels = Object.entries(endpoint.labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return withoutEmpty({
    containerID: endpoint.containerId,
    containerName: endpoint.epCommonName,
    endpointGroupId: endpoint.endpointGroupId,
    endpointGroupKey: endpoint.endpointGroupKey,
    endpointID: endpoint.endpointID,
    homingHost: endpoint.homingHost,
    intfName: endpoint.intfName,
    ipAddress: [endpoint.ipAddress, endpoint.ipv6Address],
    // As Go prints a map.
    labels: `map[${labels.map(([name, value]) => `${name}:${value}`).join(' ')}]`,
    macAddress: endpoint.macAddress,
    network: endpoint.netID,
    serviceName: endpoint.serviceName,
    vtepIP: endpoint.vtepIP,
  });
}

const listEndpoints = (cluster: ClusterView, ids: Iterable<string>): Fields[] =>
  [...ids].map((id) => operEndpoint(cluster.table('endpoint').get(id)!));

function operNetwork(cluster: ClusterView, { config, tags }: NetworkEntry): Fields {
  const subnet = parseSubnet(config.subnet);
  const taken = takenOf(cluster, config);
  const { endpoints, reservations } = cluster.use(networkKey(config));
  return {
    allocatedAddressesCount: endpoints.size + reservations.size,
    allocatedIPAddresses: formatRanges(subnet, taken),
    availableIPAddresses: formatRanges(subnet, availableIn(subnet, taken, subnet.range)),
    endpoints: listEndpoints(cluster, endpoints),
    externalPktTag: tags.extPktTag,
    networkTag: config.cfgdTag ?? `${config.networkName}.${config.tenantName}`,
    numEndpoints: endpoints.size,
    pktTag: tags.pktTag,
  };
}

function operGroup(cluster: ClusterView, { config }: GroupEntry): Fields {
  const network = cluster.table('network').get(keyIn(config, config.networkName))!;
  const endpoints = cluster.endpointsOf(groupKey(config));
  return {
    ...operPool(cluster, network, config.ipPool),
    endpoints: listEndpoints(cluster, endpoints),
    externalPktTag: network.tags.extPktTag,
    groupTag: config.cfgdTag ?? `${config.groupName}.${config.tenantName}`,
    numEndpoints: endpoints.size,
    pktTag: network.tags.pktTag,
  };
}

function operPool(cluster: ClusterView, { config }: NetworkEntry, text: string | undefined): Fields {
  if (text === undefined) return {};
  const subnet = parseSubnet(config.subnet);
  const pool = parsePool(text, subnet);
  const taken = takenInPool(cluster, config, pool);
  return {
    allocatedIPAddresses: formatRanges(subnet, taken),
    availableIPAddresses: formatRanges(subnet, availableIn(subnet, taken, pool)),
  };
}

function operPolicy(cluster: ClusterView, key: string): Fields {
  const groups = cluster.referrers('policy', key).filter(({ type }) => type === 'endpointGroup');
  const endpoints = groups.flatMap((group) => [...cluster.endpointsOf(group.key)]);
  return { endpoints: listEndpoints(cluster, endpoints), numEndpoints: endpoints.length };
}

function operTenant(cluster: ClusterView, key: string): Fields {
  const children = cluster.referrers('tenant', key);
  const keysOf = (type: ObjectType): string[] =>
    children.filter((each) => each.type === type).map((each) => each.key);
  const [networks, groups] = [keysOf('network'), keysOf('endpointGroup')];
  const endpoints = networks.flatMap((each) => [...cluster.use(each).endpoints]);
  return {
    endpointGroups: groups.map((each) =>
      withoutEmpty(operGroup(cluster, cluster.table('endpointGroup').get(each)!)),
    ),
    endpoints: listEndpoints(cluster, endpoints),
    networks: networks.map((each) => withoutEmpty(operNetwork(cluster, cluster.table('network').get(each)!))),
    totalAppProfiles: keysOf('appProfile').length,
    totalEPGs: groups.length,
    totalEndpoints: endpoints.length,
    totalNetprofiles: keysOf('netprofile').length,
    totalNetworks: networks.length,
    totalPolicies: keysOf('policy').length,
  };
}

function operGlobal(cluster: ClusterView): Fields {
  const networks = [...cluster.table('network').values()];
  const tagsOf = (encap: string, tag: 'pktTag' | 'extPktTag'): string =>
    networks
      .filter(({ config }) => config.encap === encap)
      .map(({ tags }) => tags[tag])
      .toSorted((a, b) => a - b)
      .join(', ');
  return {
    numNetworks: networks.length,
    vlansInUse: tagsOf('vlan', 'pktTag'),
    vxlansInUse: tagsOf('vxlan', 'extPktTag'),
  };
}

/** The original leaves out fields that are empty. */
function withoutEmpty(fields: Fields): Fields {
  const isEmpty = (value: unknown): boolean =>
    value === '' || value === 0 || value === undefined || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}
