export {
  type Controller,
  type ControllerOptions,
  createController,
  runController,
  type RunOptions,
} from './controller.js';
export { type Decision, evaluateNode, type NodeObservation, type Times } from './evaluate-node.js';
export { type ControllerMetrics, renderMetrics } from './metrics.js';
export {
  createOvnController,
  type OvnController,
  type OvnControllerOptions,
  ovnDefaults,
  runOvnController,
  type RunOvnOptions,
} from './ovn/ovn-controller.js';
export type { LogicalPlaces, LogicalPort, LogicalSwitch } from './ovn/places.js';
export { type LookOptions, readLogicalPlaces } from './ovn/read-facts.js';
export type { NetworkReport, PortReport, SubnetReport, VpcReport } from './ovn/report.js';
export { showLogicalNetwork, type ShowOptions } from './ovn/show.js';
export {
  runTenantController,
  runTenantMaster,
  type RunTenantOptions,
  type TenantControllerOptions,
} from './tenant/tenant-controller.js';
