export type {
  Clock,
  PodEvent,
  PodEventType,
  PodletDirectories,
  PodletNode,
  PodSource,
  PodStage,
  PodUpdate,
  PodView,
  Snapshot,
  SourceName,
  SourceProblem,
} from './contract.js';
export type { Pod, PodStatus } from './pod/pod.js';
export type { PodChange, PodletApi } from './server/api.js';
export { type PodletServerOptions, startPodletServer } from './server/server.js';
export { createSourceSet, type SourceSet } from './sources/source-set.js';
