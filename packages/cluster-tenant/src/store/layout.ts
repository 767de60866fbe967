/** Keys in the store, as the original lays them out below `/contiv.io`. */
import type { ClusterView, EntryType, ObjectType } from '../contract.js';
import { groupId, networkId } from '../keys.js';
import { renderObject } from '../render/objects.js';
import { renderGroupState, renderNetworkState } from '../render/states.js';

/** The root of all keys of Contiv. */
export const root = '/contiv.io';

export const leaderKey = `${root}/lock/netmaster/leader`;

/** The original has `obj//modeldb`; a key of our stores has no empty part. */
export const objectKey = (type: ObjectType, key: string): string => `${root}/obj/modeldb/${type}/${key}`;

export const folders = {
  objects: `${root}/obj/modeldb/`,
  networks: `${root}/state/nets/`,
  groups: `${root}/state/endpointGroups/`,
  endpoints: `${root}/state/eps/`,
  /** Not of the original, where an address without an endpoint is a bit of its network's map alone. */
  reservations: `${root}/oper/addresses/`,
} as const;

/** Settings of the cluster, as agents of the original read them. */
const globalConfigKey = `${root}/master/config/global`;
const globalStateKey = `${root}/state/global/global`;

/** Items of an entry in the store: key and text; `undefined` where nothing is to be. */
export type Items = readonly (readonly [key: string, text: string | undefined])[];

interface Named {
  readonly type: EntryType;
  readonly key: string;
}

export function itemsOf(cluster: ClusterView, { type, key }: Named): Items {
  if (type === 'endpoint') return [[folders.endpoints + key, textOf(cluster.table('endpoint').get(key))]];
  if (type === 'reservation')
    return [[folders.reservations + key, textOf(cluster.table('reservation').get(key))]];
  const isThere = cluster.table(type).has(key);
  const object = isThere ? renderObject(cluster, type, key) : undefined;
  return [[objectKey(type, key), textOf(object)], ...stateItems(cluster, type, key)];
}

function stateItems(cluster: ClusterView, type: ObjectType, key: string): Items {
  const [tenantName = '', name = ''] = key.split(':');
  if (type === 'network') {
    const entry = cluster.table('network').get(key);
    const state = entry && renderNetworkState(cluster, entry);
    return [[folders.networks + networkId({ tenantName, networkName: name }), textOf(state)]];
  }
  if (type === 'endpointGroup') {
    const entry = cluster.table('endpointGroup').get(key);
    const state = entry && renderGroupState(cluster, entry);
    return [[folders.groups + groupId({ tenantName, groupName: name }), textOf(state)]];
  }
  return type === 'global' ? globalItems(cluster) : [];
}

function globalItems({ global }: ClusterView): Items {
  if (global === undefined) return [];
  const config = {
    id: '',
    'nw-infra-type': global.networkInfraType,
    'fwd-mode': global.fwdMode,
    'arp-mode': global.arpMode,
    'pvt-subnet': global.pvtSubnet,
  };
  const state = { id: '', auto: { VLANs: global.vlans, VXLANs: global.vxlans } };
  return [
    [globalConfigKey, textOf(config)],
    [globalStateKey, textOf(state)],
  ];
}

const textOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : JSON.stringify(value);
