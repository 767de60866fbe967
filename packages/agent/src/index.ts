export { type Agent, startAgent } from './agent.js';
export type { AgentDependencies } from './assemble.js';
export type { Plan } from './api/plan.js';
export type { ClusterStatusView, PeerStatusView } from './cluster/status.js';
export type { EndpointView, ExplainedResource } from './api/views.js';
export {
  type AgentConfig,
  checkConfig,
  type ConfigCheck,
  type ConfigOrigin,
  type ConfigProblem,
  configShape,
  formatProblem,
  loadConfig,
  type NetworkConfig,
  openConfig,
  type OriginalConfig,
  parseConfig,
  type PoolConfig,
  renderConfigReference,
} from './config/index.js';
export { createLog, type Log, type LogOptions } from './log.js';
export type { Drop, PolicyProblem } from './policy/contract.js';
export type { ConnectionVerdict, Explanation } from './policy/look/explain.js';
export type { DirectionView, HostPolicyView, PodPolicyView, PolicyView } from './policy/look/views.js';
export type { ConfigurationView } from './reload/live-config.js';
export type { ReconcileReport } from './reconcile.js';
export type { RecordFiles } from './records/directory.js';
export type { DriftEntry, DriftView } from './drift/drift-log.js';
export { agentVersion, type NodeAgentOptions, startNodeAgent } from './run-agent.js';
export { runAgent } from './serve-agent.js';
export {
  decodeRequest,
  encodeAnswer,
  encodeRequest,
  maxRequestBytes,
  type PluginRequest,
} from './server/framing.js';
export type { StageSpan, Trace } from './trace.js';
