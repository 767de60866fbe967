export type { AgentFigures } from './agent-figures.js';
export type { BenchCall, BenchProgress } from './call.js';
export type { Candidate, CandidateName } from './candidates.js';
export { type Job, type JobResult, launch, previousOutput, type Step } from './launcher.js';
export type { Measurement, Operation } from './measure.js';
export type { Comparison } from './thresholds.js';
export { formatReport } from './report.js';
export { type BenchOptions, type BenchResult, defaultOptions, runBench } from './run-bench.js';
export { quantile, summarize, type Summary } from './statistics.js';
export { formatPodPath } from './pod-path/report.js';
export {
  defaultPodPathOptions,
  type PodPathOptions,
  type PodPathResult,
  runPodPath,
} from './pod-path/run-pod-path.js';
export { formatCluster } from './cluster/report.js';
export {
  type ClusterOptions,
  type ClusterResult,
  defaultClusterOptions,
  runCluster,
} from './cluster/run-cluster.js';
export {
  formatTransactions,
  measureTransactions,
  type TransactionBench,
  type TransactionCost,
} from './policy/transactions.js';
export { formatPolicy } from './policy/report.js';
export {
  defaultPolicyOptions,
  type PolicyBenchOptions,
  type PolicyResult,
  runPolicy,
} from './policy/run-policy.js';
export { formatSdn } from './sdn/report.js';
export { defaultSdnOptions, runSdn, type SdnBenchOptions, type SdnResult } from './sdn/run-sdn.js';
export { formatOvn } from './ovn/report.js';
export { defaultOvnOptions, type OvnBenchOptions, type OvnResult, runOvn } from './ovn/run-ovn.js';
