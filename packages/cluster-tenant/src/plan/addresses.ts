/** Addresses that Docker and Mesos ask for before their endpoints are there. */
import { formatAddress } from '@podwire/addresses';
import { chooseAddress } from '../allocation/addresses.js';
import type { ClusterView, GroupEntry, NetworkEntry, Plan } from '../contract.js';
import { groupKey, networkId, networkKey, reservationKey } from '../keys.js';
import type { AllocAddress, ReleaseAddress } from '../objects/calls.js';
import { invalidField } from '../objects/read-fields.js';
import { parseSubnet } from '../objects/subnet.js';
import { unknownObject } from '../problems.js';

interface Place {
  readonly network: NetworkEntry;
  readonly group: GroupEntry | undefined;
}

/** @throws PodwireError OBJECT_UNKNOWN, TENANT_CONFLICT, TENANT_EXHAUSTED */
export function planAllocAddress(cluster: ClusterView, request: AllocAddress): Plan {
  const { NetworkID = '', AddressPool = '', PreferredIPv4Address } = request;
  const { network, group } =
    NetworkID === '' ? findByPool(cluster, AddressPool) : findById(cluster, NetworkID);
  const key = networkKey(network.config);
  const address = chooseAddress(cluster, {
    subject: `address of network ${key}`,
    field: 'PreferredIPv4Address',
    ...{ network, group },
    address: PreferredIPv4Address,
  });
  const value = { network: key, group: group === undefined ? '' : groupKey(group.config), address };
  const { prefix } = parseSubnet(network.config.subnet);
  return {
    changes: [{ type: 'reservation', key: reservationKey(key, address), value }],
    answer: () => ({ NetworkID, IPv4Address: `${address}/${prefix.length}` }),
  };
}

/** The address of an endpoint goes with the endpoint: released before, another one would get it while it is in use. */
export function planReleaseAddress(cluster: ClusterView, request: ReleaseAddress): Plan {
  const { network } = findById(cluster, request.NetworkID);
  const key = reservationKey(networkKey(network.config), request.IPv4Address);
  const isThere = cluster.table('reservation').has(key);
  return {
    changes: isThere ? [{ type: 'reservation', key, value: undefined }] : [],
    answer: () => 'success',
  };
}

/** `NETWORK.TENANT`, or `NETWORK:GROUP.TENANT`, whose names may have dots. */
function findById(cluster: ClusterView, id: string): Place {
  const [name = '', ofGroup] = id.split(':');
  if (ofGroup === undefined) {
    const network = cluster.networkById(id);
    if (network === undefined) throw unknownObject(`network ${id}`);
    return { network, group: undefined };
  }
  for (const [groupName, tenantName] of splitsOf(ofGroup)) {
    const group = cluster.table('endpointGroup').get(groupKey({ tenantName, groupName }));
    const network = cluster.networkById(networkId({ tenantName, networkName: name }));
    if (group !== undefined && network !== undefined && group.config.networkName === name)
      return { network, group };
  }
  throw unknownObject(`network with an endpointGroup ${id}`);
}

function* splitsOf(text: string): Generator<readonly [string, string]> {
  for (let dot = text.indexOf('.'); dot >= 0; dot = text.indexOf('.', dot + 1))
    yield [text.slice(0, dot), text.slice(dot + 1)];
}

function findByPool(cluster: ClusterView, text: string): Place {
  const [pool = '', tenant] = text.split(':');
  const matches = [...cluster.table('network').values()].filter(
    ({ config }) => (tenant === undefined || config.tenantName === tenant) && cidrOf(config.subnet) === pool,
  );
  const [network] = matches;
  if (network === undefined) throw unknownObject(`network with the subnet ${text}`);
  // The original takes any of them.
  if (matches.length > 1)
    throw invalidField(
      'address',
      'AddressPool',
      `must name a tenant: ${matches.length} networks have ${pool}`,
    );
  return { network, group: undefined };
}

function cidrOf(subnet: string): string {
  const { prefix } = parseSubnet(subnet);
  return `${formatAddress(prefix.address)}/${prefix.length}`;
}
