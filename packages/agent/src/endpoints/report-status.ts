import { familyOf } from '@podwire/addresses';
import type { StatusRequest } from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import { chooseNetwork, type Network } from '../networks.js';
import { type Call, type EndpointState, type NodeSide, requireReady, type ServingState } from './context.js';

/**
 * STATUS (CNI specification 1.1.0, section 2): success when an ADD could be served now. Not ready or no address left is
 * code 50; 51 when the node could not be brought in order and has pods, which may be cut off too.
 */
export async function reportStatus(
  context: NodeSide & ServingState & Pick<EndpointState, 'endpoints'>,
  request: StatusRequest,
  call: Call,
): Promise<void> {
  call.trace.stage('status');
  const network = chooseNetwork(context.networks, request.config);
  context.cluster?.requireUnfenced();
  const { problem } = context.readiness;
  if (problem !== undefined) {
    const limitedConnectivity = context.endpoints.size > 0;
    throw new PodwireError('AGENT_NOT_READY', problem, { details: { limitedConnectivity } });
  }
  requireReady(context);
  requireAddresses(network, context.node.view(network).ipv6, context.cluster !== undefined);
  await call.answer('');
}

/** A pod gets an address of every family that the network gives, so each must have one left. */
function requireAddresses({ view, ipam, families }: Network, ipv6: boolean, inCluster: boolean): void {
  const reports = ipam.report();
  if (families.length === 0 && inCluster) {
    const message = `network ${view.name} has no pool in the cluster that this node may use`;
    throw new PodwireError('POOL_EXHAUSTED', message);
  }
  for (const family of families.filter((each) => each === 4 || ipv6)) {
    const pools = reports.filter(({ cidr }) => familyOf(cidr) === family);
    if (pools.every(({ free }) => free === 0n)) {
      const names = pools.map(({ name }) => name).join(', ');
      const message = `network ${view.name} has no free IPv${family} address left in ${names}`;
      throw new PodwireError('POOL_EXHAUSTED', message);
    }
  }
}
