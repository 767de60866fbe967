/** What an ADD does when this node has no address for it: the cluster is asked, and the ADD tries again. */
import type { Need } from '@podwire/cluster-ipam';
import { PodwireError } from '@podwire/errors';
import type { ClusterMember } from '../cluster/member.js';
import type { Call, EndpointContext } from './context.js';
import { type AddRequest, wantedFamilies, wantedPools } from './draft.js';

/** What is provided may be taken by another ADD that waits too; somebody who loses so often is told. */
const attempts = 10;

/**
 * Runs `work` until it finds addresses. In the common case that is once, and nothing is waited for.
 * @throws what `work` throws, and PodwireError as NodeAddressing.provide does
 */
export async function withAddresses<T>(
  context: EndpointContext & { readonly cluster: ClusterMember },
  asked: AddRequest,
  call: Call,
  work: () => T,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return work();
    } catch (error) {
      if (attempt === attempts || !mayBeElsewhere(error)) throw error;
    }
    call.trace.stage('provide');
    await context.cluster.provide(needOf(context, asked), call.signal);
    context.cluster.requireTrust();
    call.trace.stage('plan');
  }
}

/** Nothing is left in the blocks of this node, or the address lies in a block of another one. */
function mayBeElsewhere(error: unknown): boolean {
  if (!(error instanceof PodwireError)) return false;
  const { code, details } = error;
  // Who has it, or when it has cooled down, would be there if it were in a block of this node.
  const isNobodysHere = details['owner'] === undefined && details['freeAt'] === undefined;
  return code === 'POOL_EXHAUSTED' || (code === 'ADDRESS_IN_USE' && isNobodysHere);
}

function needOf({ node }: EndpointContext, { network, wish }: AddRequest): Need {
  const pools = wantedPools(wish, network);
  return {
    network: network.view.name,
    families: wantedFamilies(wish, network, node.view(network)),
    ...(wish.addresses.length === 0 ? {} : { requested: wish.addresses }),
    ...(pools === undefined ? {} : { pools }),
  };
}
