/** From a dump to what will be written. Pure. */
import type { Block, AllocationRecord, Pool } from '@podwire/cluster-state';
import { buildPool } from '@podwire/cluster-ipam/operations';
import { PodwireError } from '@podwire/errors';
import type { AnyObject } from '@podwire/objects';
import type { Revision } from '@podwire/store';
import type { Dump } from '../read/dump.js';
import { type Diagnostic, diagnosticsFor } from '../diagnostics.js';
import { planBlocks } from './blocks.js';
import { compareWithState, type Creation } from './compare.js';
import { reportInconsistencies } from './inconsistencies.js';
import { planPolicyObjects } from './policy-objects.js';
import { planPools } from './pools.js';
import type { ImportState } from './state.js';

export interface PlanOptions {
  /** The network of the agents' configuration whose pods get addresses of the pools. */
  readonly network: string;
}

export interface ImportPlan {
  /** Policies, and what they speak of. */
  readonly objects: readonly AnyObject[];
  readonly pools: readonly Pool[];
  readonly blocks: readonly Block[];
  readonly allocationRecords: readonly AllocationRecord[];
  /** Objects to write, in the order of writing: safe to be cut off after each, and to be done again. */
  readonly creations: readonly Creation[];
  /** Objects that are there already. */
  readonly present: number;
  /** With an error among them nothing is written. */
  readonly diagnostics: readonly Diagnostic[];
  readonly poolsGeneration: { readonly key: string; readonly expect: Revision | 'absent' };
}

export function planImport(dump: Dump, state: ImportState, { network }: PlanOptions): ImportPlan {
  const diagnostics = [...dump.diagnostics];
  const planned = planPools(dump, network, diagnostics);
  const { blocks, allocationRecords, reserved, uses } = planBlocks(dump, planned, diagnostics);
  const pools = planned.pools.map((pool) => withReserved(pool, reserved.get(pool.name) ?? []));
  checkPools(pools, state, diagnostics);
  reportInconsistencies(dump, uses, blocks, diagnostics);
  const policies = planPolicyObjects(dump, diagnostics);
  const all = { policies, pools, blocks, allocationRecords };
  const { creations, present } = compareWithState(all, state, diagnostics);
  return {
    objects: policies.map(({ value }) => value),
    pools,
    blocks,
    allocationRecords,
    creations,
    present,
    diagnostics,
    poolsGeneration: { key: state.keys.poolsGeneration, expect: state.poolsGeneration },
  };
}

const withReserved = (pool: Pool, more: readonly string[]): Pool =>
  more.length === 0 ? pool : { ...pool, reserved: [...new Set([...pool.reserved, ...more])].sort() };

/** The same rules as for `pool create`, also against existing pools. */
function checkPools(pools: readonly Pool[], { objects }: ImportState, diagnostics: Diagnostic[]): void {
  const names = new Set(pools.map(({ name }) => name));
  const there = [...objects.values()]
    .filter(({ kind, value }) => kind === 'pool' && value !== undefined)
    .map(({ value }) => value as Pool)
    .filter(({ name }) => !names.has(name));
  for (const [at, pool] of pools.entries())
    try {
      buildPool(pool, [...there, ...pools.slice(0, at)]);
    } catch (error) {
      if (!(error instanceof PodwireError)) throw error;
      diagnosticsFor(`IPPool ${pool.name}`, diagnostics).error(
        String(error.details['field'] ?? ''),
        error.message,
      );
    }
}

export const errorsOf = ({ diagnostics }: Pick<ImportPlan, 'diagnostics'>): readonly Diagnostic[] =>
  diagnostics.filter(({ level }) => level === 'error');
