/** States of networks and groups as the original stores them. Counts and maps are those of the entries. */
import { formatAddress } from '@podwire/addresses';
import type { ClusterView, GroupEntry, Network, NetworkEntry } from '../contract.js';
import { groupId, groupKey, keyIn, networkId, networkKey } from '../keys.js';
import { addressOf, parsePool, parseSubnet, parseSubnet6 } from '../objects/subnet.js';
import { encodeNetworkMap, encodePoolMap, noBits } from './address-map.js';
import type { Fields } from './objects.js';

export function renderNetworkState(cluster: ClusterView, { config, tags }: NetworkEntry): Fields {
  const subnet = parseSubnet(config.subnet);
  const { endpoints, reservations } = cluster.use(networkKey(config));
  const id = networkId(config);
  return {
    id,
    tenant: config.tenantName,
    networkName: config.networkName,
    nwType: config.nwType,
    pktTagType: config.encap,
    ...tags,
    subnetIP: formatAddress(subnet.prefix.address),
    subnetLen: subnet.prefix.length,
    gateway: config.gateway ?? '',
    ipAddrRange: `${addressOf(subnet, subnet.range.first)}-${addressOf(subnet, subnet.range.last)}`,
    epAddrCount: endpoints.size + reservations.size,
    epCount: endpoints.size,
    ipAllocMap: encodeNetworkMap(cluster, config),
    ...renderIpv6(cluster, config),
    networkTag: config.cfgdTag ?? id,
  };
}

function renderIpv6(cluster: ClusterView, config: Network): Fields {
  const { ipv6Subnet, ipv6Gateway = '' } = config;
  if (ipv6Subnet === undefined)
    return {
      ...{ ipv6SubnetIP: '', ipv6SubnetLen: 0, ipv6Gateway },
      ...{ ipv6AllocMap: {}, ipv6LastHost: '' },
    };
  const prefix = parseSubnet6(ipv6Subnet);
  const { taken6, last6 } = cluster.use(networkKey(config));
  const host = (value: bigint): string => formatAddress({ family: 6, value: value - prefix.address.value });
  const hosts = [...taken6].toSorted((a, b) => (a < b ? -1 : 1)).map((value) => [host(value), true] as const);
  return {
    ipv6SubnetIP: formatAddress(prefix.address),
    ipv6SubnetLen: prefix.length,
    ipv6Gateway,
    ipv6AllocMap: Object.fromEntries(hosts),
    ipv6LastHost: last6 === prefix.address.value ? '' : host(last6),
  };
}

export function renderGroupState(cluster: ClusterView, { config, id }: GroupEntry): Fields {
  const network = cluster.table('network').get(keyIn(config, config.networkName))!;
  const profile =
    config.netProfile === undefined
      ? undefined
      : cluster.table('netprofile').get(keyIn(config, config.netProfile));
  return {
    id: groupId(config),
    groupName: config.groupName,
    tenantName: config.tenantName,
    networkName: config.networkName,
    endpointGroupId: id,
    pktTagType: network.config.encap,
    ...network.tags,
    epCount: cluster.endpointsOf(groupKey(config)).size,
    DSCP: profile?.DSCP ?? 0,
    Bandwidth: profile?.bandwidth ?? '',
    Burst: profile?.burst ?? 0,
    IPPool: config.ipPool ?? '',
    epgIpAllocMap: renderPoolMap(cluster, network.config, config.ipPool),
    groupTag: config.cfgdTag ?? `${config.groupName}.${config.tenantName}`,
  };
}

function renderPoolMap(cluster: ClusterView, network: Network, text: string | undefined): string {
  if (text === undefined) return noBits;
  return encodePoolMap(cluster, network, parsePool(text, parseSubnet(network.subnet)));
}
