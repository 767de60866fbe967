/** From a dump to what will be written. Pure. */
import type { Block, AllocationRecord, Pool } from '@podwire/cluster-state';
import { buildPool } from '@podwire/cluster-ipam/operations';
import { PodwireError } from '@podwire/errors';
import type { Revision } from '@podwire/store';
import type { Dump } from '../read/dump.js';
import { type Remark, remarksAbout } from '../remarks.js';
import { planBlocks } from './blocks.js';
import { compareWithState, type Creation } from './compare.js';
import { remarkDoubts } from './doubts.js';
import { planPools } from './pools.js';
import type { ImportState } from './state.js';

export interface PlanOptions {
  /** The network of the agents' configuration whose pods get addresses of the pools. */
  readonly network: string;
}

export interface ImportPlan {
  readonly pools: readonly Pool[];
  readonly blocks: readonly Block[];
  readonly allocationRecords: readonly AllocationRecord[];
  /** What is not there yet, in the order it is written: safe to be cut off after each, and to be done again. */
  readonly creations: readonly Creation[];
  /** Objects that are there already. */
  readonly present: number;
  /** With an error among them nothing is written. */
  readonly remarks: readonly Remark[];
  readonly poolsGeneration: { readonly key: string; readonly expect: Revision | 'absent' };
}

export function planImport(dump: Dump, state: ImportState, { network }: PlanOptions): ImportPlan {
  const remarks = [...dump.remarks];
  const planned = planPools(dump, network, remarks);
  const { blocks, allocationRecords, reserved, uses } = planBlocks(dump, planned, remarks);
  const pools = planned.pools.map((pool) => withReserved(pool, reserved.get(pool.name) ?? []));
  checkPools(pools, state, remarks);
  remarkDoubts(dump, uses, blocks, remarks);
  const { creations, present } = compareWithState({ pools, blocks, allocationRecords }, state, remarks);
  return {
    pools,
    blocks,
    allocationRecords,
    creations,
    present,
    remarks,
    poolsGeneration: { key: state.keys.poolsGeneration, expect: state.poolsGeneration },
  };
}

const withReserved = (pool: Pool, more: readonly string[]): Pool =>
  more.length === 0 ? pool : { ...pool, reserved: [...new Set([...pool.reserved, ...more])].sort() };

/** The same rules as for `pool create`, also against existing pools. */
function checkPools(pools: readonly Pool[], { objects }: ImportState, remarks: Remark[]): void {
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
      remarksAbout(`IPPool ${pool.name}`, remarks).error(String(error.details['field'] ?? ''), error.message);
    }
}

export const errorsOf = ({ remarks }: Pick<ImportPlan, 'remarks'>): readonly Remark[] =>
  remarks.filter(({ level }) => level === 'error');
