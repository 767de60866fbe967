/** The whole plan of a look. Pure: the same look and cursors always give the same plan. */
import type { SubnetCursors } from '../pods/contract.js';
import type { OvnLook, OvnPlan, OvnPlanOptions } from './contract.js';
import { OvnPlanner } from './planner.js';

/**
 * Plans the objects that are missing, addresses of nodes and pods, the status of objects, and the facts of the logical network.
 * @param cursors of the plan before: only a hint
 */
export function planOvnCluster(look: OvnLook, options: OvnPlanOptions, cursors?: SubnetCursors): OvnPlan {
  const planner = new OvnPlanner(look, options, cursors);
  const plan = planner.plan();
  return {
    ...plan,
    changes: [...plan.changes, ...planner.planStatuses(look.objects, look.now)],
    facts: planner.facts,
  };
}
