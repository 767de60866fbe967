/** The whole decision: both sides of a connection, each by the policies that select it. */
import type { AnyObject } from '@podwire/objects';
import type { Cluster, Connection, Evaluation, Pod, Why } from './cluster.js';
import { decideByTiers, explain, findActing } from './decide-side.js';
import type { Direction, GoverningPolicy } from './governing.js';
import { decideForHost } from './host.js';
import { governByAdminPolicy, type RawAdminPolicy } from './kinds/admin.js';
import { type CalicoPolicy, findProfile, governByCalicoPolicy } from './kinds/calico.js';
import { lendLabels, profilesOfPod } from './kinds/calico-entity.js';
import { governByNetworkPolicy, type RawNetworkPolicy } from './kinds/network-policy.js';
import { type Packet, resolvePacket, type Side } from './packet.js';

/**
 * Decides one connection, from the objects alone. Slow on purpose: it reads every object for every connection and keeps nothing.
 * @throws SyntaxError or TypeError for objects that no schema would have let in
 */
export function evaluate(cluster: Cluster, connection: Connection): Evaluation {
  const packet = resolvePacket(lendLabels(cluster), connection);
  if (packet === undefined) return both({ verdict: 'deny', reason: 'unreachable' });
  const { source, destination } = packet;
  // It never leaves the pod's network namespace.
  if (source.address === destination.address) return both({ verdict: 'allow', reason: 'itself' });
  const egress = decideSide(packet, source, 'egress');
  const ingress = decideSide(packet, destination, 'ingress');
  const isAllowed = egress.verdict === 'allow' && ingress.verdict === 'allow';
  return { verdict: isAllowed ? 'allow' : 'deny', egress, ingress };
}

const both = (why: Why): Evaluation => ({ verdict: why.verdict, egress: why, ingress: why });

function decideSide(packet: Packet, side: Side, direction: Direction): Why {
  const { source, destination } = packet;
  if (side.pod === undefined) return decideForHost(packet, side, direction);
  // Probes of the node must come through, whatever policy says.
  const isOwnNode = source.node !== undefined && source.node.name === destination.pod?.node;
  if (direction === 'ingress' && isOwnNode) return { verdict: 'allow', reason: 'own-node' };
  return decideForPod(packet, side.pod, direction);
}

function decideForPod(packet: Packet, pod: Pod, direction: Direction): Why {
  const governing = findGoverning(packet.cluster, pod, direction);
  return decideByTiers(governing, packet) ?? decideByProfiles(packet, pod, direction);
}

function findGoverning(cluster: Cluster, pod: Pod, direction: Direction): GoverningPolicy[] {
  return cluster.objects.flatMap((object) => govern(object, cluster, pod, direction) ?? []);
}

function govern(
  object: AnyObject,
  cluster: Cluster,
  pod: Pod,
  direction: Direction,
): GoverningPolicy | undefined {
  switch (`${object.apiVersion} ${object.kind}`) {
    case 'networking.k8s.io/v1 NetworkPolicy':
      return governByNetworkPolicy(object as RawNetworkPolicy, cluster, pod, direction);
    case 'policy.networking.k8s.io/v1alpha1 AdminNetworkPolicy':
    case 'policy.networking.k8s.io/v1alpha1 BaselineAdminNetworkPolicy':
    case 'policy.networking.k8s.io/v1alpha2 ClusterNetworkPolicy':
      return governByAdminPolicy(object as RawAdminPolicy, cluster, pod, direction);
    case 'projectcalico.org/v3 NetworkPolicy':
    case 'projectcalico.org/v3 GlobalNetworkPolicy':
      return governByCalicoPolicy(object as CalicoPolicy, cluster, pod, direction);
    default:
      return undefined;
  }
}

/** Profiles have the last word where there are any; without one, a pod is open. */
function decideByProfiles(packet: Packet, pod: Pod, direction: Direction): Why {
  const profiles = profilesOfPod(pod).flatMap((name) => findProfile(packet.cluster, name, direction) ?? []);
  for (const { object, rules } of profiles) {
    const rule = findActing(rules, packet);
    if (rule !== undefined) return explain(rule, object, undefined);
  }
  const last = profiles.at(-1);
  return last === undefined
    ? { verdict: 'allow', reason: 'default' }
    : { verdict: 'deny', reason: 'end-of-profiles', object: last.object };
}
