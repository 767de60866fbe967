/** The whole plan of a look. Pure: the same look and cursors always give the same plan. */
import { PodwireError } from '@podwire/errors';
import { type AnyObject, checkObject, referenceKey } from '@podwire/objects';
import type { OvnNode } from '../contract.js';
import { compact } from '@podwire/platform';
import { writeAllocation } from '../pods/annotations.js';
import type { IpObject, OvnChange, PodObject, SubnetCursors } from '../pods/contract.js';
import { planAddresses } from '../pods/plan-addresses.js';
import { nodePortName, podPortName } from '../topology/names.js';
import type {
  OvnClusterNode,
  OvnFacts,
  OvnLook,
  OvnObjects,
  OvnPlan,
  OvnPlanOptions,
  OvnWrite,
  PodAnswer,
} from './contract.js';
import { findPod, fromIpObject, toIpObject, toNode, toPodSubnet, toSubnet, toVpc } from './convert.js';
import { listMissing } from './defaults.js';
import { planStatuses } from './status.js';
import { type CheckedSubnet, checkSubnets } from './subnets.js';

/**
 * Plans the objects that are missing, addresses of nodes and pods, the status of objects, and the facts of the logical network.
 * @param cursors of the plan before: only a hint
 */
export function planOvnCluster(
  look: OvnLook,
  { defaults, encapsulation }: OvnPlanOptions,
  cursors?: SubnetCursors,
): OvnPlan {
  const { objects, nodes } = look;
  const missing = listMissing(defaults, objects).map((after) => ({ after, reason: 'it was not there' }));
  const checked = checkSubnets(objects);
  const ips = new Map(objects.ips.map(({ object }) => [object.metadata.name, toIpObject(object)]));
  const pods = [...look.pods, ...look.unreadablePods.flatMap((pod) => recallPod(pod, ips))];
  const subnets = checked.subnets.map(({ subnet, underlay, fault }) => ({
    ...toPodSubnet(subnet, underlay),
    isSuspended: fault !== undefined,
  }));
  const unreadableSubnets = objects.unreadable.flatMap(({ reference: { kind, name } }) =>
    kind === 'Subnet' ? [name] : [],
  );
  const addresses = planAddresses(
    { nodes, ips: [...ips.values()], pods, subnets, unreadableSubnets, encapsulation, statefulSets: [] },
    cursors,
  );
  return {
    changes: [
      ...missing,
      ...listIpWrites(addresses.changes, objects),
      ...planStatuses(objects, checked.subnets, look.now),
    ],
    answers: addresses.changes.flatMap(toAnswer),
    problems: [...objects.unreadable.map(describeUnreadable), ...checked.problems, ...addresses.problems],
    cursors: addresses.cursors,
    facts: { ...readFacts(objects, checked.subnets, nodes, ips), pods: new Map(pods.flatMap(findPod)) },
  };
}

type IpsByName = ReadonlyMap<string, IpObject>;

/** As its IP object has it. */
function recallPod({ namespace, name }: OvnLook['unreadablePods'][number], ips: IpsByName): PodObject[] {
  const ip = ips.get(podPortName(namespace, name));
  if (ip === undefined) return [];
  const { podUid: uid = '', node, statefulSet } = ip;
  const pod = { namespace, name, uid, hasEnded: false, ...compact({ node, statefulSet }) };
  return [{ ...pod, annotations: writeAllocation(ip) }];
}

const toAnswer = (change: OvnChange): PodAnswer[] =>
  change.type === 'annotate' && change.what === 'pod'
    ? [{ id: change.id, uid: change.uid!, annotations: change.annotations }]
    : [];

/** An IP object that goes and comes again is one write: its key has one revision to depend on. */
function listIpWrites(changes: readonly OvnChange[], { ips }: OvnObjects): OvnWrite[] {
  const stored = new Map(ips.map((ip) => [ip.object.metadata.name, ip]));
  const put = new Set(changes.flatMap((change) => (change.type === 'put-ip' ? [change.ip.name] : [])));
  return changes.flatMap((change): OvnWrite[] => {
    if (change.type === 'put-ip')
      return [{ before: stored.get(change.ip.name), after: checkIp(change.ip), reason: 'it has addresses' }];
    if (change.type === 'annotate' || put.has(change.name)) return [];
    const before = stored.get(change.name);
    return before === undefined ? [] : [{ before, reason: change.reason }];
  });
}

/** @throws Error for what the schema of an IP does not take */
function checkIp(ip: IpObject): AnyObject {
  const checked = checkObject(fromIpObject(ip));
  if (checked.ok) return checked.object;
  throw new Error(`IP ${ip.name}: ${checked.problems.map(({ message }) => message).join('; ')}`);
}

const describeUnreadable = ({ reference, problems }: OvnObjects['unreadable'][number]): PodwireError =>
  new PodwireError(
    'OBJECT_INVALID',
    `${referenceKey(reference)}: ${problems.map(({ message }) => message).join('; ')}`,
    {
      action: 'Correct or delete the object. Until then it is left alone.',
    },
  );

function readFacts(
  { vpcs }: OvnObjects,
  subnets: readonly CheckedSubnet[],
  nodes: readonly OvnClusterNode[],
  ips: IpsByName,
): Omit<OvnFacts, 'pods'> {
  const reachable = new Set(nodes.filter(({ isReachable }) => isReachable).map(({ name }) => name));
  return {
    vpcs: new Map(vpcs.map(({ object }) => [object.metadata.name, toVpc(object)])),
    subnets: new Map(
      subnets.map(({ subnet, underlay, fault }) => [
        subnet.metadata.name,
        {
          ...toSubnet(subnet, underlay, (node) => reachable.has(node)),
          ...(fault === undefined ? {} : { fault }),
        },
      ]),
    ),
    nodes: new Map(nodes.flatMap((node) => findNode(node, ips))),
  };
}

/** A node without an IP object is not in the logical network yet. */
function findNode(node: OvnClusterNode, ips: IpsByName): [string, OvnNode][] {
  const ip = ips.get(nodePortName(node.name));
  return ip === undefined ? [] : [[node.name, toNode(node, ip)]];
}
