/** The whole plan. Pure: the same cluster and cursors always give the same plan. */
import { parsePrefix, type Prefix } from '@podwire/addresses';
import { type ClusterNetwork, isVnid } from '@podwire/objects';
import { SubnetRanges } from '../allocation/subnet-ranges.js';
import { lowestVnid, Vnids } from '../allocation/vnids.js';
import type { ClusterPlan, Cursors, PlannedPart, SdnCluster, SdnObjects } from '../contract.js';
import { noClusterNetwork, unreadableObject } from '../problems.js';
import { planHostSubnets } from './host-subnets.js';
import { planNetNamespaces } from './net-namespaces.js';

const start: Cursors = { vnid: lowestVnid, subnets: {} };

/**
 * Plans the changes after which each node has a subnet and each namespace a VNID. In a cluster in which they were made there are
 * none, unless something was exhausted that the plan itself has given back.
 * @param cursors of the plan before
 */
export function planCluster(cluster: SdnCluster, cursors = start): ClusterPlan {
  const { clusterNetwork, unreadable } = cluster.objects;
  const broken = unreadable.map(unreadableObject);
  if (clusterNetwork === undefined) {
    const isThere = unreadable.some(({ reference }) => reference.kind === 'ClusterNetwork');
    return { changes: [], problems: isThere ? broken : [noClusterNetwork()], cursors };
  }
  const network = clusterNetwork.object;
  const ranges = markSubnets(cluster.objects, network, cursors);
  const vnids = markVnids(cluster.objects, cursors);
  const parts = [planSubnets(cluster, network, ranges), planNamespaces(cluster, network, vnids)];
  return {
    changes: parts.flatMap(({ changes }) => changes),
    problems: [...broken, ...parts.flatMap(({ problems }) => problems)],
    cursors: { vnid: vnids.cursor, subnets: ranges.cursors },
  };
}

function markSubnets(objects: SdnObjects, network: ClusterNetwork, { subnets }: Cursors): SubnetRanges {
  const ranges = new SubnetRanges(network.clusterNetworks, subnets);
  const texts = [
    ...objects.hostSubnets.map(({ object }) => object.subnet),
    ...contentsOf(objects, 'HostSubnet', 'subnet'),
  ];
  for (const text of texts) {
    const subnet = readPrefix(text);
    if (subnet !== undefined) ranges.take(subnet);
  }
  return ranges;
}

function markVnids(objects: SdnObjects, { vnid }: Cursors): Vnids {
  const unreadable = contentsOf(objects, 'NetNamespace', 'netid').filter(isVnid);
  return new Vnids([...objects.netNamespaces.map(({ object }) => object.netid), ...unreadable], vnid);
}

/** A field of objects that cannot be read as a whole: its value is in use all the same. */
const contentsOf = ({ unreadable }: SdnObjects, kind: string, field: string): unknown[] =>
  unreadable
    .filter(({ reference }) => reference.kind === kind)
    .map(({ content }) => (content as Readonly<Record<string, unknown>> | null | undefined)?.[field]);

function readPrefix(text: unknown): Prefix | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    return parsePrefix(text, { loose: true });
  } catch {
    return undefined;
  }
}

const namesOf = ({ unreadable }: SdnObjects, kind: string): ReadonlySet<string> =>
  new Set(unreadable.flatMap(({ reference }) => (reference.kind === kind ? [reference.name] : [])));

const planSubnets = (
  { objects, nodes }: SdnCluster,
  clusterNetwork: ClusterNetwork,
  ranges: SubnetRanges,
): PlannedPart =>
  planHostSubnets(
    { hostSubnets: objects.hostSubnets, nodes, clusterNetwork, unreadable: namesOf(objects, 'HostSubnet') },
    ranges,
  );

/** Without isolation namespaces have no VNIDs. */
function planNamespaces(
  { objects, namespaces }: SdnCluster,
  { pluginName }: ClusterNetwork,
  vnids: Vnids,
): PlannedPart {
  if (pluginName === 'redhat/openshift-ovs-subnet') return { changes: [], problems: [] };
  const { netNamespaces } = objects;
  const unreadable = namesOf(objects, 'NetNamespace');
  const isMultitenant = pluginName === 'redhat/openshift-ovs-multitenant';
  return planNetNamespaces({ netNamespaces, namespaces, unreadable, isMultitenant }, vnids);
}
