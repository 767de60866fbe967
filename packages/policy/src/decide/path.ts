/** The whole way of a connection: out of the pod that begins it and into the pod that it is for. */
import type { Connection, Decision, PodInspection } from '../compile/compiler-contract.js';
import { decideConnection } from './decide.js';
import { decideAtHost, type HostInspection } from './host.js';

export interface PathQuestion {
  readonly connection: Connection;
  /** The pod at the source; absent: a node, or something outside. */
  readonly source?: PodInspection | undefined;
  /** The pod at the destination; absent: a node, or something outside. */
  readonly destination?: PodInspection | undefined;
  /** The node whose own address the source is: its own pods have it let in always. */
  readonly sourceNode?: string | undefined;
  /** The link that the node itself sends through. */
  readonly sourceHost?: HostInspection | undefined;
  /** The link that the node itself receives through. */
  readonly destinationHost?: HostInspection | undefined;
}

/** `egress` and `ingress` are absent where neither a pod nor a host endpoint is at that end. */
export interface PathDecision {
  readonly verdict: 'allow' | 'deny';
  readonly egress?: Decision | undefined;
  readonly ingress?: Decision | undefined;
}

/** A packet of a pod to itself never leaves it. A pod that asks its own node is subject to its egress policy. */
export function decidePath(question: PathQuestion): PathDecision {
  const { connection, source, destination, sourceNode, sourceHost, destinationHost } = question;
  if (connection.source === connection.destination) return { verdict: 'allow' };
  const egress =
    (source && decideAt(source, 'egress', connection)) ??
    (sourceHost && decideAtHost(sourceHost, 'egress', connection));
  const isOwnNode = source === undefined && sourceNode !== undefined && sourceNode === destination?.pod.node;
  const ingress = isOwnNode
    ? sameNode
    : ((destination && decideAt(destination, 'ingress', connection)) ??
      (destinationHost && decideAtHost(destinationHost, 'ingress', connection)));
  const isDenied = egress?.verdict === 'deny' || ingress?.verdict === 'deny';
  return { verdict: isDenied ? 'deny' : 'allow', egress, ingress };
}

const sameNode: Decision = { verdict: 'allow', reason: 'same-node' };

const decideAt = (pod: PodInspection, direction: 'ingress' | 'egress', connection: Connection): Decision =>
  decideConnection(pod, { direction, endpoint: pod.endpoint, connection });
