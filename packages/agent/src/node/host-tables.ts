/** The tables of the node that networks of several models share. Pure. */
import type { Resource } from '@podwire/engine';
import type { HostTable, NetworkSide, PoolView } from '@podwire/network-contract';
import { planForwardAccept, planNodeTraffic } from '@podwire/network-traffic';

export interface PlannedTables {
  /** Applied before what the models plan for the node. */
  readonly beforeModels: readonly Resource[];
  readonly afterModels: readonly Resource[];
}

type PlanTable = (sides: readonly NetworkSide[], inside: readonly Pick<PoolView, 'cidr'>[]) => PlannedTables;

const planners: Readonly<Record<HostTable, PlanTable>> = {
  traffic: (sides, inside) => {
    const links = sides.flatMap(({ model }) => model.forwardingLinks ?? []);
    const views = sides.map(({ view }) => view);
    return {
      beforeModels: planNodeTraffic(views, inside, links),
      afterModels: planForwardAccept(links),
    };
  },
};

/**
 * Each table that a model asks for, planned once for all networks of the models that ask for it.
 * @param otherPools of networks that this node does not have. What stays within the cluster is not masqueraded, whichever network or
 * model it belongs to.
 */
export function planHostTables(
  sides: readonly NetworkSide[],
  otherPools: readonly PoolView[],
): PlannedTables {
  const tables = new Set(sides.flatMap(({ model }) => model.hostTables));
  const planned = [...tables].map((table) => {
    const asking = sides.filter(({ model }) => model.hostTables.includes(table));
    const others = sides.filter((side) => !asking.includes(side));
    return planners[table](asking, [...others.flatMap(({ view }) => view.network.pools), ...otherPools]);
  });
  return {
    beforeModels: planned.flatMap(({ beforeModels }) => beforeModels),
    afterModels: planned.flatMap(({ afterModels }) => afterModels),
  };
}
