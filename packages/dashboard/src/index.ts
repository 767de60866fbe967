export { type Dashboard, type DashboardOptions, startDashboard } from './dashboard.js';
export type { Asking, ClusterFacts, DashboardSources, NodeSource, SavedReport, Wording } from './sources.js';
export type * from './shapes.js';
