import type { LogicalSwitchPort, QosRule } from '@podwire/backend-ovsdb/northbound/resources';
import type { Resource } from '@podwire/engine';
import type { Read } from '@podwire/planner';
import type { OvnNode } from '../contract.js';
import { planToNode } from './egress.js';
import { limitFrom, limitTo } from './limits.js';
import { JOIN_SUBNET, nodePortName } from './names.js';
import { vendor } from './rows.js';

/** The node's end of the subnet `join`, and the way to its own addresses. */
export function planNode(name: string, read: Read): Resource[] | undefined {
  const [node, join] = [read(`ovn-node/${name}`), read(`ovn-subnet/${JOIN_SUBNET}`)];
  if (node === undefined || join === undefined) return undefined;
  const policies = read(`ovn-vpc/${join.vpc}`) === undefined ? [] : planToNode(join.vpc, name, node);
  return [planPort(name, node), ...limitNode(name, node), ...policies];
}

/**
 * Both directions: on the datapath `netdev` its link `ovn0` is a tap, which neither policing nor a qdisc of the port limits.
 */
function limitNode(name: string, { ingressRate, egressRate }: OvnNode): QosRule[] {
  const place = { port: nodePortName(name), switch: JOIN_SUBNET, externalIds: vendor };
  return [...limitFrom({ ...place, rate: egressRate }), ...limitTo({ ...place, rate: ingressRate })];
}

const planPort = (name: string, { mac, joinAddresses }: OvnNode): LogicalSwitchPort => ({
  ...{ kind: 'logical-switch-port', name: nodePortName(name), switch: JOIN_SUBNET },
  ...{ addresses: [[mac, ...joinAddresses].join(' ')], externalIds: vendor },
});
