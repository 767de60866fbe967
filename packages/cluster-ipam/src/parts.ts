/** Puts the parts of a node's addressing together. */
import type { Pool } from '@podwire/cluster-state';
import type { Ipam } from '@podwire/ipam';
import { KeyedMutex } from '@podwire/platform';
import { AllocationState } from './affinities/allocation-state.js';
import { ImportedAddresses } from './affinities/imported.js';
import { StateSaver } from './affinities/saved-state.js';
import { AffinitySync } from './affinities/sync.js';
import { BlockIndex } from './blocks/block-index.js';
import { BlockClaims } from './blocks/claim.js';
import { BlockReleases } from './blocks/release.js';
import { SpareBlocks } from './blocks/spares.js';
import { Borrower } from './borrowing/borrower.js';
import { BorrowGrants } from './borrowing/grants.js';
import { PendingGrants } from './borrowing/pending-grants.js';
import { ClusterStore } from './cluster-store.js';
import type { NodeAddressingOptions, Timing } from './contract.js';
import type { AddressingEvents, Problems } from './events.js';
import { Fence } from './fence.js';
import { NodePools } from './node-pools.js';
import { AddressProvider } from './provide.js';
import { Reports } from './reports.js';
import { WorkloadAddresses } from './workloads/workload-addresses.js';
import { WorkloadIndex } from './workloads/workload-index.js';

export interface PartsOptions extends NodeAddressingOptions {
  readonly events: AddressingEvents;
  readonly stopped: AbortSignal;
  readonly currentPools: () => ReadonlyMap<string, Pool>;
}

export type Parts = ReturnType<typeof createParts>;

export function createParts(options: PartsOptions) {
  const timing = completeTiming(options.timing, options.fenceAfter);
  const ipams = new Map<string, Ipam>();
  const base = createBase(options, timing, ipams);
  const blocks = createBlocks(options, timing, ipams, base);
  const workloads = new WorkloadIndex({
    ...options,
    onKeep: (network, address, workload) => ipams.get(network)?.keep(address, workload),
  });
  const provider = new AddressProvider({
    ...options,
    ...base,
    ...blocks,
    workloads,
    mutex: new KeyedMutex(),
  });
  const workloadAddresses = new WorkloadAddresses({ ...options, ...base, workloads, provider });
  return {
    timing,
    ipams,
    events: options.events,
    ...base,
    ...blocks,
    workloads,
    provider,
    workloadAddresses,
  };
}

/** Parts that need no loop: memory, the node's file, and the store as it sees it. */
function createBase(options: PartsOptions, timing: Timing, ipams: ReadonlyMap<string, Ipam>) {
  const { clock, cache, fenceAfter, taken = () => [] } = options;
  const problems: Problems = new Map();
  const uncertain = new Map<string, number>();
  const state = new AllocationState();
  const fence = new Fence(clock, fenceAfter);
  const index = options.index ?? new BlockIndex(cache);
  const pendingGrants = new PendingGrants();
  const store = new ClusterStore({ ...options, fence, deadline: timing.call });
  const pools = new NodePools({ ...options, pools: options.currentPools, taken, state, ipams, problems });
  const imported = new ImportedAddresses({ ...options, store, state, pools, ipams });
  const sync = new AffinitySync({
    ...options,
    store,
    state,
    pools,
    ipams,
    imported,
    pendingGrants,
    problems,
  });
  const saver = new StateSaver({
    ...options,
    file: options.savedState,
    pools: options.currentPools,
    ...{ fence, state, imported, pendingGrants, sync, uncertainReports: uncertain },
  });
  const reports = new Reports({
    ...options,
    ...{ store, state, index, imported, problems, timing, uncertain },
    delay: options.reportEvery,
  });
  return {
    problems,
    uncertain,
    state,
    fence,
    index,
    pendingGrants,
    store,
    pools,
    imported,
    sync,
    saver,
    reports,
  };
}

/** How the node gets and releases blocks and addresses. */
function createBlocks(
  options: PartsOptions,
  timing: Timing,
  ipams: ReadonlyMap<string, Ipam>,
  base: ReturnType<typeof createBase>,
) {
  const { taken = () => [] } = options;
  const spares = new SpareBlocks({ ...options, ...base, ipams, keepSurplus: timing.keepSurplus });
  const claims = new BlockClaims({ ...options, ...base, taken });
  const releases = new BlockReleases({ ...options, ...base, ipams, spares, delay: timing.releaseDelay });
  const borrower = new Borrower({
    ...options,
    ...base,
    releases,
    answerDeadline: timing.borrowAnswer,
    keepUnused: timing.tidyEvery,
  });
  const grants = new BorrowGrants({ ...options, ...base, ipams });
  return { spares, claims, releases, borrower, grants };
}

function completeTiming(given: Partial<Timing> | undefined, fenceAfter: number): Timing {
  return {
    call: 5_000,
    confirmEvery: Math.min(fenceAfter / 10, 60_000),
    tidyEvery: 15_000,
    keepSurplus: 60_000,
    releaseDelay: 3_000,
    borrowAnswer: 2_000,
    reportAgain: 300_000,
    firstPause: 200,
    lastPause: 10_000,
    ...given,
  };
}
