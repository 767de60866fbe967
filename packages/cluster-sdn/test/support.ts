/** Clusters in memory: objects by hand, and plans that are carried out without a store. */
import {
  checkObject,
  type ClusterNetwork,
  type HostSubnet,
  type NetNamespace,
  referenceKey,
  referenceOf,
  type StoredObject,
} from '@podwire/objects';
import {
  type Change,
  type ClusterNode,
  type ClusterPlan,
  type Cursors,
  planCluster,
  type SdnCluster,
  selectSdnObjects,
} from '../src/index.js';

type Fields = Readonly<Record<string, unknown>>;
type Own = ClusterNetwork | HostSubnet | NetNamespace;

const apiVersion = 'network.openshift.io/v1';

function make<T extends Own>(kind: string, name: string, fields: Fields, annotations?: Fields): T {
  const metadata = { name, ...(annotations !== undefined && { annotations }) };
  const checked = checkObject({ apiVersion, kind, metadata, ...fields });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.object as unknown as T;
}

export const changeNetwork = 'pod.network.openshift.io/multitenant.change-network';
export const nodeUid = 'pod.network.openshift.io/node-uid';
export const assignSubnet = 'pod.network.openshift.io/assign-subnet';
export const fixedVnidHost = 'pod.network.openshift.io/fixed-vnid-host';

export type Mode = 'subnet' | 'multitenant' | 'networkpolicy';

export const clusterNetwork = (
  mode: Mode = 'multitenant',
  ...ranges: readonly (readonly [string, number])[]
): ClusterNetwork =>
  make('ClusterNetwork', 'default', {
    serviceNetwork: '172.30.0.0/16',
    pluginName: `redhat/openshift-ovs-${mode}`,
    clusterNetworks: (ranges.length === 0 ? [['10.128.0.0/14', 9] as const] : ranges).map(
      ([CIDR, hostSubnetLength]) => ({ CIDR, hostSubnetLength }),
    ),
  });

export const netNamespace = (name: string, netid: number, request?: string): NetNamespace =>
  make(
    'NetNamespace',
    name,
    { netname: name, netid },
    request === undefined ? undefined : { [changeNetwork]: request },
  );

export const hostSubnet = (
  name: string,
  subnet: string,
  fields: Fields = {},
  annotations?: Fields,
): HostSubnet =>
  make('HostSubnet', name, { host: name, hostIP: '192.168.0.200', subnet, ...fields }, annotations);

/** A node and the HostSubnet that was made for it. */
export const node = (number: number, uid = `uid-${number}`): ClusterNode => ({
  name: `n${number}`,
  uid,
  address: `192.168.${Math.floor(number / 250)}.${1 + (number % 250)}`,
});
export const subnetOf = (owner: ClusterNode, subnet: string): HostSubnet =>
  hostSubnet(owner.name, subnet, { hostIP: owner.address }, { [nodeUid]: owner.uid });

const store = (object: Own, revision: number): StoredObject => ({ object, revision });

/** `network`: the objects that are there, without one ClusterNetwork with the usual one. */
export function createCluster(
  objects: readonly Own[],
  rest: Partial<Pick<SdnCluster, 'namespaces' | 'nodes'>> = {},
): SdnCluster {
  const network = objects.some(({ kind }) => kind === 'ClusterNetwork') ? [] : [clusterNetwork()];
  const stored = [...network, ...objects].map((object, index) => store(object, index + 1));
  return {
    objects: selectSdnObjects({ objects: stored, unreadable: [] }),
    namespaces: [],
    nodes: [],
    ...rest,
  };
}

const keyOf = ({ object }: Pick<StoredObject, 'object'>): string => referenceKey(referenceOf(object));

/** The cluster after the changes, each of which must find what it expects. */
export function carryOut(cluster: SdnCluster, changes: readonly Change[]): SdnCluster {
  const { clusterNetwork: network, hostSubnets, netNamespaces, unreadable } = cluster.objects;
  const all = new Map<string, StoredObject>(
    [...(network === undefined ? [] : [network]), ...hostSubnets, ...netNamespaces].map((each) => [
      keyOf(each),
      each,
    ]),
  );
  let revision = Math.max(0, ...[...all.values()].map((each) => each.revision));
  for (const change of changes) {
    const key = keyOf({ object: change.after ?? change.before.object });
    if (all.get(key)?.revision !== change.before?.revision)
      throw new Error(`${key} is not as the plan expects`);
    if (change.after === undefined) all.delete(key);
    else all.set(key, store(requireValid(change.after), ++revision));
  }
  return { ...cluster, objects: selectSdnObjects({ objects: [...all.values()], unreadable }) };
}

function requireValid<T extends Own>(object: T): T {
  const checked = checkObject(object);
  if (!checked.ok)
    throw new Error(`the plan has made ${JSON.stringify(object)}: ${JSON.stringify(checked.problems)}`);
  return object;
}

export interface Settled {
  readonly cluster: SdnCluster;
  readonly plan: ClusterPlan;
}

/** Plans, and carries it out. */
export function settle(cluster: SdnCluster, cursors?: Cursors): Settled {
  const plan = planCluster(cluster, cursors);
  return { cluster: carryOut(cluster, plan.changes), plan };
}

/** VNIDs by namespace. */
export const vnidsOf = ({ objects }: SdnCluster): Record<string, number> =>
  Object.fromEntries(objects.netNamespaces.map(({ object }) => [object.netname, object.netid]));

export const subnetsOf = ({ objects }: SdnCluster): Record<string, string> =>
  Object.fromEntries(objects.hostSubnets.map(({ object }) => [object.host, object.subnet]));

/** `create NetNamespace shop: its namespace is new` */
export function describeChange({ before, after, reason }: Change): string {
  const verb = before === undefined ? 'create' : after === undefined ? 'delete' : 'change';
  const object = after ?? before.object;
  return `${verb} ${object.kind} ${object.metadata.name}: ${reason}`;
}

export const problemsOf = ({ problems }: Pick<ClusterPlan, 'problems'>): string[] =>
  problems.map(({ code, message }) => `${code} ${message}`);
