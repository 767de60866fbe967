/** What of the node's holdings outlives the agent, in its file. */
import { formatPrefix } from '@podwire/addresses';
import type { Pool } from '@podwire/cluster-state';
import type { BlockAffinity, LentAddress, NodeAddressingOptions } from '../contract.js';
import type { Core } from '../core.js';
import { isLoan, lenderOf, readPoolObject } from './remembered.js';
import { lentOf } from './sync.js';

/** Share of `fenceAfter` after which the file says anew when the store has confirmed it. */
const staleFile = 0.05;

export interface Memory {
  /** As an earlier life has left them. */
  readonly pools: ReadonlyMap<string, Pool>;
  /** What an earlier life has left, as long as the store says nothing else. @returns whether there is something */
  resume(): boolean;
  /** Writes down what is so now, where that says more than the file. @throws PodwireError RECORD_IO */
  save(): void;
}

export function createMemory(core: Core, options: NodeAddressingOptions): Memory {
  const { node, instance, clock, savedState: file, fenceAfter } = options;
  const { book, trust } = core;
  let remembered: ReadonlyMap<string, Pool> = new Map();
  let savedAt = 0;
  let savedText = '';
  return {
    get pools() {
      return remembered;
    },
    resume() {
      const saved = file.read();
      if (saved?.node !== node || saved.instance !== instance) return false;
      for (const { cidr, state } of saved.affinities) {
        const { prefix } = book.add(cidr, state, clock.elapsed());
        if (isLoan(saved.pools, cidr)) {
          book.delete(cidr);
          book.add(cidr, state, clock.elapsed(), lenderOf(saved.pools, formatPrefix(prefix)));
        }
      }
      remembered = new Map(saved.pools.flatMap(readPoolObject).map((pool) => [pool.name, pool]));
      for (const entry of saved.imported ?? []) core.imported.set(entry.address, entry);
      for (const { address, node: borrower, block } of saved.lent ?? []) {
        core.lending.set(address, { node: borrower, block });
        core.doubtful.add(address);
      }
      for (const block of saved.uncertainReports ?? []) core.uncertainReports.set(block, clock.elapsed());
      // An older file does not say what is lent: until the store does, nothing may be handed out.
      if (saved.version > 1) trust.resume(saved.confirmedAt, saved.fenceAfter);
      return true;
    },
    save() {
      // Of what is strange a life after this one must ask anew whether somebody has it.
      const known = [...book.all()].filter(({ isStrange }) => isStrange !== true);
      const affinities = known.map(({ cidr, state }): BlockAffinity => ({ cidr, state }));
      const lent = listLent(core);
      const pools = [...core.pools().values()];
      const imported = [...core.imported.values()];
      const uncertainReports = [...core.uncertainReports.keys()];
      const text = JSON.stringify([affinities, pools, imported, lent, uncertainReports]);
      const { confirmedAt } = trust;
      if (text === savedText && confirmedAt - savedAt < fenceAfter * staleFile) return;
      core.faults.reach('holdings:changed');
      file.write({
        version: 2,
        node,
        instance,
        affinities,
        pools,
        imported,
        lent,
        uncertainReports,
        confirmedAt,
        fenceAfter: trust.limit,
      });
      core.faults.reach('holdings:written');
      savedText = text;
      savedAt = confirmedAt;
    },
  };
}

/**
 * Of blocks of this node, in the order of their text. Those of an earlier life count as on their way until the store has told
 * of them, so they are among them also while it is away.
 */
function listLent(core: Core): LentAddress[] {
  const lent = new Map(
    [...core.lending].map(([address, loan]): [string, LentAddress] => [address, { address, ...loan }]),
  );
  for (const held of core.book.blocks()) {
    for (const loan of lentOf(core, held)) lent.set(loan.address, { ...loan, block: held.cidr });
  }
  return [...lent.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
}
