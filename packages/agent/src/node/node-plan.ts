/** The node's own part, as a plan and the facts that it reads. Pure. */
import type { Resource } from '@podwire/engine';
import type { NetworkSide, PoolView } from '@podwire/network-contract';
import type { Derivations } from '@podwire/planner';
import { planHostTables } from './host-tables.js';

export const nodeDerivations: Derivations = {
  'sides-for-peers': (_, read) => read('sides').map(withoutBlocks),
};

/** Everything the node must have before the first pod, for the whole of its networks and blocks. */
export function planNode(sides: readonly NetworkSide[], otherPools: readonly PoolView[]): Resource[] {
  const tables = planHostTables(sides, otherPools);
  return withoutDoubles([
    // First: the node must not forward before it knows for whom.
    ...tables.beforeModels,
    ...sides.flatMap(({ model, view }) => model.planNode(view)),
    ...tables.afterModels,
  ]);
}

export const withoutBlocks = ({ model, view }: NetworkSide): NetworkSide => ({
  model,
  view: { ...view, blocks: [] },
});

/** Two networks of one model need the same parameters and tables of the node, and reach a peer through one tunnel. */
export function withoutDoubles(resources: readonly Resource[]): Resource[] {
  return [...new Map(resources.map((resource) => [JSON.stringify(resource), resource])).values()];
}
