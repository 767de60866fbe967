/** Gives a network's IPAM the spare blocks of the node. Never waits. */
import { containsAddress, containsPrefix, formatPrefix } from '@podwire/addresses';
import type { BlockSource, Ipam } from '@podwire/ipam';
import type { Clock } from '@podwire/platform';
import type { AllocationState } from '../affinities/allocation-state.js';
import type { AffinitySync } from '../affinities/sync.js';

export interface BlockSourceParts {
  readonly state: AllocationState;
  readonly sync: AffinitySync;
  readonly ipams: ReadonlyMap<string, Ipam>;
  readonly clock: Clock;
  /** A spare block was taken. */
  readonly onTaken: () => void;
}

export function createBlockSource(
  { state, sync, ipams, clock, onTaken }: BlockSourceParts,
  network: string,
): BlockSource {
  return {
    claim(pool, holding) {
      const spare = state
        .spares()
        .find(({ prefix }) =>
          holding === undefined ? containsPrefix(pool.prefix, prefix) : containsAddress(prefix, holding),
        );
      if (spare === undefined || !containsPrefix(pool.prefix, spare.prefix)) return undefined;
      // IPAM must know the borrowed addresses of a block before it allocates from it.
      if (!ipams.has(network) && sync.grantedOf(spare).length > 0) return undefined;
      spare.isOpen = true;
      sync.markGranted(network, spare);
      onTaken();
      return spare.prefix;
    },
    giveBack(_, block) {
      const affinity = state.get(formatPrefix(block));
      if (affinity === undefined) return;
      affinity.isOpen = false;
      affinity.since = clock.elapsed();
    },
  };
}
