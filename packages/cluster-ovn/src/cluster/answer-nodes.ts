/** Annotations that answer nodes, as Kube-OVN's daemon reads them. Pure. */
import type { Annotations } from '../pods/annotations.js';
import { answerNode } from '../pods/answers.js';
import { JOIN_SUBNET, nodePortName } from '../topology/names.js';
import type { OvnFacts } from './contract.js';

/** By the name of the node: those that have an end of the subnet `join`. */
export function answerNodes({
  nodes,
  subnets,
}: Pick<OvnFacts, 'nodes' | 'subnets'>): Map<string, Annotations> {
  const join = subnets.get(JOIN_SUBNET);
  if (join === undefined) return new Map();
  const subnet = { name: JOIN_SUBNET, ranges: join.ranges };
  return new Map(
    [...nodes].map(([name, { mac, joinAddresses: addresses }]) => [
      name,
      answerNode(subnet, { addresses, mac }, nodePortName(name)),
    ]),
  );
}
