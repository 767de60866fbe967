/** The tables of the node that networks of several models share. Pure. */
import type { NetworkSide, PlannedTable, PoolView } from '@podwire/network-contract';

/**
 * Each table that a model asks for, planned once for all networks of the models that ask for it.
 * @param otherPools of networks that this node does not have
 */
export function planHostTables(sides: readonly NetworkSide[], otherPools: readonly PoolView[]): PlannedTable {
  const tables = new Set(sides.flatMap(({ model }) => model.hostTables));
  const planned = [...tables].map((table) => {
    const asking = sides.filter(({ model }) => model.hostTables.includes(table));
    const others = sides.filter((side) => !asking.includes(side));
    return table.plan(asking, [...others.flatMap(({ view }) => view.network.pools), ...otherPools]);
  });
  return {
    beforeModels: planned.flatMap(({ beforeModels }) => beforeModels),
    afterModels: planned.flatMap(({ afterModels }) => afterModels),
  };
}
