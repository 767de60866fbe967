/** The state that outlives the agent, in `holdings.json`: what the node continues with while the store is away. */
import { addressBits, containsPrefix, formatPrefix, parsePrefix, prefixOf } from '@podwire/addresses';
import {
  type Allocation,
  allocationRecordKind,
  type ClusterCache,
  type Pool,
  poolKind,
} from '@podwire/cluster-state';
import { type Clock, compact, type FaultPoints } from '@podwire/platform';
import { z } from 'zod';
import type { PendingGrants } from '../borrowing/pending-grants.js';
import type { GrantedAddress, SavedState, SavedStateStore } from '../contract.js';
import type { Fence } from '../fence.js';
import type { AllocationState } from './allocation-state.js';
import type { ImportedAddresses } from './imported.js';
import type { AffinitySync } from './sync.js';

const entries = allocationRecordKind.schema.transform(({ entries }) => entries);
const imported = z.unknown().transform((value): Allocation[] => {
  const record = { cidr: '0.0.0.0/0', node: 'imported', entries: value, reportedAt: 0 };
  const found = entries.safeParse(record);
  return found.success ? found.data : [];
});

/** The field names of the file are older than those in the code. */
const schema = z.object({
  version: z.union([z.literal(1), z.literal(2)]),
  node: z.string(),
  instance: z.string(),
  holdings: z.array(
    z.object({ cidr: z.string(), state: z.enum(['pending', 'confirmed', 'pendingDeletion']) }),
  ),
  pools: z.array(z.unknown()),
  confirmedAt: z.number(),
  trustFor: z.number().optional(),
  imported: imported.optional(),
  lending: z.array(z.object({ address: z.string(), node: z.string(), block: z.string() })).optional(),
  uncertainReports: z.array(z.string()).optional(),
});

/** @returns undefined for a text that cannot be read (of a newer version, truncated): the store knows the blocks of the node */
export function parseSavedState(text: string): SavedState | undefined {
  const found = schema.safeParse(parseJson(text));
  if (!found.success) return undefined;
  const { holdings: affinities, trustFor: fenceAfter, lending: granted, ...file } = found.data;
  return compact({ ...file, affinities, fenceAfter, granted });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function formatSavedState({ affinities, granted, fenceAfter, ...file }: SavedState): string {
  return JSON.stringify({ ...file, holdings: affinities, lending: granted, trustFor: fenceAfter });
}

export interface StateSaverOptions {
  readonly node: string;
  readonly instance: string;
  readonly file: SavedStateStore;
  readonly clock: Clock;
  readonly faults: FaultPoints;
  readonly fence: Fence;
  readonly fenceAfter: number;
  readonly cache: ClusterCache;
  readonly state: AllocationState;
  readonly pools: () => ReadonlyMap<string, Pool>;
  readonly imported: ImportedAddresses;
  readonly pendingGrants: PendingGrants;
  readonly sync: AffinitySync;
  /** Blocks with an uncertain report, and when it was sent. */
  readonly uncertainReports: Map<string, number>;
}

/** Share of `fenceAfter` after which a newer confirmation alone is a reason to write. */
const confirmationShare = 0.05;

export class StateSaver {
  readonly #options: StateSaverOptions;
  #pools: ReadonlyMap<string, Pool> = new Map();
  #savedAt = 0;
  #savedText = '';

  constructor(options: StateSaverOptions) {
    this.#options = options;
  }

  /** The pools of the saved state. */
  get pools(): ReadonlyMap<string, Pool> {
    return this.#pools;
  }

  /** Continues with the state of an earlier life of this instance. @returns whether there is one */
  resume(): boolean {
    const { node, instance, file, clock, fence, state, imported, pendingGrants, uncertainReports } =
      this.#options;
    const saved = file.read();
    if (saved?.node !== node || saved.instance !== instance) return false;
    const pools = saved.pools.flatMap(readPool);
    for (const { cidr, state: phase } of saved.affinities) {
      const block = blockAround(pools, formatPrefix(parsePrefix(cidr)));
      state.add(cidr, phase, clock.elapsed(), block === formatPrefix(parsePrefix(cidr)) ? undefined : block);
    }
    this.#pools = new Map(pools.map((pool) => [pool.name, pool]));
    imported.load(saved.imported ?? []);
    for (const grant of saved.granted ?? []) {
      pendingGrants.add(grant);
      pendingGrants.markUncertain(grant.address);
    }
    for (const block of saved.uncertainReports ?? []) uncertainReports.set(block, clock.elapsed());
    // Version 1 does not list the borrowed addresses: nothing may be allocated until the store tells.
    if (saved.version > 1) fence.resume(saved.confirmedAt, saved.fenceAfter);
    return true;
  }

  /** Writes the state if it differs from the file. @throws PodwireError RECORD_IO */
  save(): void {
    const { node, instance, file, faults, fence, fenceAfter } = this.#options;
    const content = this.#content();
    const text = JSON.stringify(content);
    const { confirmedAt } = fence;
    if (text === this.#savedText && confirmedAt - this.#savedAt < fenceAfter * confirmationShare) return;
    faults.reach('saved-state:changed');
    file.write({ version: 2, node, instance, ...content, confirmedAt, fenceAfter: fence.limit });
    faults.reach('saved-state:written');
    this.#savedText = text;
    this.#savedAt = confirmedAt;
  }

  #content() {
    const { state, pools, imported, uncertainReports } = this.#options;
    // The next life must verify an unverified address again.
    const verified = [...state.all()].filter(({ isUnverified }) => isUnverified !== true);
    return {
      affinities: verified.map(({ cidr, state: phase }) => ({ cidr, state: phase })),
      pools: [...pools().values()],
      imported: imported.all(),
      granted: this.#granted(),
      uncertainReports: [...uncertainReports.keys()],
    };
  }

  /**
   * Borrowed addresses of own blocks, in order of their text. Those of an earlier life count as pending until the store has told,
   * so they are among them while it is away.
   */
  #granted(): GrantedAddress[] {
    const { state, sync, pendingGrants } = this.#options;
    const granted = new Map(pendingGrants.all().map((grant) => [grant.address, grant]));
    for (const block of state.blocks()) {
      for (const loan of sync.grantedOf(block)) granted.set(loan.address, { ...loan, block: block.cidr });
    }
    return [...granted.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
  }
}

function readPool(value: unknown): Pool[] {
  const found = poolKind.schema.safeParse(value);
  return found.success ? [found.data] : [];
}

/** The cidr of the block, or of the block that a single address lies in, as far as the pools tell. */
function blockAround(pools: readonly Pool[], cidr: string): string {
  const prefix = parsePrefix(cidr);
  const pool = pools.find((each) => containsPrefix(parsePrefix(each.cidr), prefix));
  const isBlock = pool === undefined || prefix.length < addressBits(prefix.family);
  return isBlock ? cidr : formatPrefix(prefixOf(prefix.address, pool.blockSize));
}
