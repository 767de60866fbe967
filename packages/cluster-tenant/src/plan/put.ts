/** Creates and changes objects. Pure: each plan is of one look at the cluster. */
import { overlaps, parseAddress } from '@podwire/addresses';
import type {
  AppProfile,
  ClusterView,
  EndpointGroup,
  Netprofile,
  Network,
  Plan,
  Policy,
  Tenant,
} from '../contract.js';
import { chooseGroupId } from '../allocation/group-ids.js';
import { chooseTags } from '../allocation/tags.js';
import { groupKey, keyIn, networkId, networkKey } from '../keys.js';
import { handsOut, parseSubnet, parseSubnet6, subnetsMeet } from '../objects/subnet.js';
import { conflict, unknownObject } from '../problems.js';
import { requirePool } from './pools.js';
import { fieldsOf, objectPlan, requireNamed, requireSame } from './shared.js';

export function putTenant(cluster: ClusterView, tenant: Tenant): Plan {
  const { tenantName: key } = tenant;
  const before = cluster.table('tenant').get(key);
  if (before !== undefined) requireSame(`tenant ${key}`, before, tenant, fieldsOf(before, tenant));
  return objectPlan('tenant', key, before === undefined ? [{ type: 'tenant', key, value: tenant }] : []);
}

/** Networks never change; the same network once more is no change. */
export function putNetwork(cluster: ClusterView, network: Network): Plan {
  const key = networkKey(network);
  const object = `network ${key}`;
  const before = cluster.table('network').get(key)?.config;
  if (before !== undefined) {
    requireSame(object, before, network, fieldsOf(before, network));
    return objectPlan('network', key, []);
  }
  requireTenant(cluster, object, network);
  requireFreeName(cluster, network);
  for (const { config } of cluster.table('network').values())
    if (config.tenantName === network.tenantName) requireApart(object, network, config);
  const { global } = cluster;
  if (global === undefined) throw unknownObject('global global');
  const value = { config: network, tags: chooseTags(cluster, global, network) };
  return objectPlan('network', key, [{ type: 'network', key, value }]);
}

function requireFreeName(cluster: ClusterView, network: Network): void {
  const key = networkKey(network);
  if (cluster.table('endpointGroup').has(key))
    throw conflict(`network ${key}`, 'networkName', 'is the name of an endpointGroup of the tenant');
  // Names have dots, so two pairs of names can come to one id; in the original one state overwrites the other.
  const other = cluster.networkById(networkId(network));
  if (other !== undefined)
    throw conflict(
      `network ${key}`,
      'networkName',
      `comes to the id ${networkId(network)}, which network ${networkKey(other.config)} has`,
    );
}

function requireApart(object: string, network: Network, other: Network): void {
  if (subnetsMeet(parseSubnet(network.subnet), parseSubnet(other.subnet)))
    throw conflict(object, 'subnet', `overlaps that of network ${networkKey(other)}, ${other.subnet}`);
  if (isHandedOut(network.gateway, other))
    throw conflict(object, 'gateway', `is an address of network ${networkKey(other)}, ${other.subnet}`);
  if (isHandedOut(other.gateway, network))
    throw conflict(object, 'subnet', `has the gateway of network ${networkKey(other)}, ${other.gateway}`);
  const [own6, other6] = [network.ipv6Subnet, other.ipv6Subnet];
  if (own6 !== undefined && other6 !== undefined && overlaps(parseSubnet6(own6), parseSubnet6(other6)))
    throw conflict(object, 'ipv6Subnet', `overlaps that of network ${networkKey(other)}, ${other6}`);
}

/** Ranges may lie side by side in one prefix, and a gateway outside of its own: an endpoint must not get it. */
const isHandedOut = (gateway: string | undefined, { subnet }: Network): boolean =>
  gateway !== undefined && handsOut(parseSubnet(subnet), parseAddress(gateway));

/** Of a group policies and the netprofile may change: a field that is not given is taken away, as in the original. */
export function putGroup(cluster: ClusterView, group: EndpointGroup): Plan {
  const key = groupKey(group);
  const object = `endpointGroup ${key}`;
  const before = cluster.table('endpointGroup').get(key);
  if (before !== undefined) requireSame(object, before.config, group, ['networkName', 'ipPool', 'cfgdTag']);
  requireTenant(cluster, object, group);
  const network = { type: 'network', key: keyIn(group, group.networkName) } as const;
  const { config } = requireNamed(cluster, network, { object, field: 'networkName' });
  for (const name of group.policies)
    requireNamed(cluster, { type: 'policy', key: keyIn(group, name) }, { object, field: 'policies' });
  if (group.netProfile !== undefined)
    requireNamed(
      cluster,
      { type: 'netprofile', key: keyIn(group, group.netProfile) },
      { object, field: 'netProfile' },
    );
  if (before === undefined && cluster.table('network').has(key))
    throw conflict(object, 'groupName', 'is the name of a network of the tenant');
  if (before === undefined && group.ipPool !== undefined) requirePool(cluster, object, config, group.ipPool);
  const value = { config: group, id: before?.id ?? chooseGroupId(cluster) };
  return objectPlan('endpointGroup', key, [{ type: 'endpointGroup', key, value }]);
}

/** A policy has no fields of its own; its rules are objects. */
export function putPolicy(cluster: ClusterView, policy: Policy): Plan {
  const key = keyIn(policy, policy.policyName);
  requireTenant(cluster, `policy ${key}`, policy);
  return objectPlan('policy', key, [{ type: 'policy', key, value: policy }]);
}

export function putNetprofile(cluster: ClusterView, profile: Netprofile): Plan {
  const key = keyIn(profile, profile.profileName);
  requireTenant(cluster, `netprofile ${key}`, profile);
  return objectPlan('netprofile', key, [{ type: 'netprofile', key, value: profile }]);
}

/** A group is in one profile at most. */
export function putAppProfile(cluster: ClusterView, profile: AppProfile): Plan {
  const key = keyIn(profile, profile.appProfileName);
  const place = { object: `appProfile ${key}`, field: 'endpointGroups' };
  requireTenant(cluster, place.object, profile);
  for (const name of profile.endpointGroups) {
    const group = { type: 'endpointGroup', key: keyIn(profile, name) } as const;
    requireNamed(cluster, group, place);
    const other = cluster.referrers('endpointGroup', group.key).find((each) => each.type === 'appProfile');
    if (other !== undefined && other.key !== key)
      throw conflict(place.object, place.field, `names ${name}, which is in appProfile ${other.key}`);
  }
  return objectPlan('appProfile', key, [{ type: 'appProfile', key, value: profile }]);
}

function requireTenant(cluster: ClusterView, object: string, { tenantName }: { tenantName: string }): void {
  requireNamed(cluster, { type: 'tenant', key: tenantName }, { object, field: 'tenantName' });
}
