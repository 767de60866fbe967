/** What an ADD asks the cluster for: when this node has no address for it, or when its workload has addresses of its own. */
import type { Need } from '@podwire/cluster-ipam';
import { PodwireError } from '@podwire/errors';
import type { ClusterMember } from '../cluster/contract.js';
import type { Call, EndpointContext } from './context.js';
import { fullName } from './registry.js';
import { type AddRequest, wantedAddresses, wantedFamilies } from './draft.js';

/** What is provided may be taken by another ADD that waits too; somebody who loses so often is told. */
const attempts = 10;

/**
 * Runs `work` until it finds addresses. In the common case that is once, and nothing is waited for.
 * @throws what `work` throws, and PodwireError as NodeAddressing.provide does
 */
export async function withAddresses<T>(
  context: MemberContext,
  request: AddRequest,
  call: Call,
  work: (asked: AddRequest) => T,
): Promise<T> {
  const asked = await withWorkload(context, request, call);
  for (let attempt = 1; ; attempt++) {
    try {
      return work(asked);
    } catch (error) {
      if (attempt === attempts || !mayBeElsewhere(error)) throw error;
    }
    call.trace.stage('provide');
    await context.cluster.provide(needOf(context, asked), call.signal);
    context.cluster.requireTrust();
    call.trace.stage('plan');
  }
}

/** The endpoints' context of a node that is in a cluster. */
export type MemberContext = EndpointContext & { readonly cluster: ClusterMember };

export const isMember = (context: EndpointContext): context is MemberContext => context.cluster !== undefined;

/** Most pods have no workload with addresses, and that is known in memory. */
async function withWorkload(
  { cluster, node }: MemberContext,
  asked: AddRequest,
  call: Call,
): Promise<AddRequest> {
  const { network, wish } = asked;
  const pod = fullName(wish.pod);
  if (pod === undefined || !cluster.addressing.hasWorkload(network.view.name, pod)) return asked;
  call.trace.stage('workload');
  const families = wantedFamilies(wish, network, node.view(network));
  const given = await cluster.addressing.addressesFor(network.view.name, pod, families, call.signal);
  call.trace.stage('plan');
  return given === undefined ? asked : { ...asked, given };
}

/** Nothing is left in the blocks of this node, or the address lies in a block of another one. */
function mayBeElsewhere(error: unknown): boolean {
  if (!(error instanceof PodwireError)) return false;
  const { code, details } = error;
  // Who has it, or when it has cooled down, would be there if it were in a block of this node.
  const isNobodysHere = details['owner'] === undefined && details['freeAt'] === undefined;
  return code === 'POOL_EXHAUSTED' || (code === 'ADDRESS_IN_USE' && isNobodysHere);
}

function needOf({ node }: EndpointContext, asked: AddRequest): Need {
  const { network, wish } = asked;
  const { requested, pools } = wantedAddresses(asked);
  return {
    network: network.view.name,
    families: wantedFamilies(wish, network, node.view(network)),
    ...(requested === undefined ? {} : { requested }),
    ...(pools === undefined ? {} : { pools }),
  };
}
