export type {
  Clock,
  Merger,
  PodDescription,
  PodEvent,
  PodEventRecord,
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
export {
  type ConfigMap,
  formatProblem,
  type LocalPlace,
  type ManifestContent,
  type Pod,
  type PodStatus,
  readApiPod,
  readManifests,
} from '@podwire/pod-spec';
export type { PodChange, PodletApi } from './server/api.js';
export { type PodletServerOptions, startPodletServer } from './server/server.js';
export { HeldPods, type Hold, type HoldKind } from './sources/held-pods.js';
export type { ContainerUse, PodUse } from './server/stats.js';
export type { PodRemoved, PodRestarted } from './server/pod-verbs.js';
export { type SourcePlaces, SourceSet } from './sources/source-set.js';
export { isCheckpointed, PodCheckpoints, withCheckpoints } from './checkpoints/pod-checkpoints.js';
export { createMerger } from './merge/merger.js';
export { createFileSource, type FileSourceOptions } from './sources/file-source.js';
export { LastGood } from './sources/last-good.js';
export { createHttpSource, type HttpSourceOptions } from './sources/http-source.js';
export {
  createPodPreparation,
  type FindConfigMap,
  type PreparationOptions,
  loadProbeResults,
  readConfigMapDirectory,
  withProbeResults,
} from './files/index.js';
export type {
  ContainerConfigRequest,
  ImageUser,
  PodPreparation,
  PreparedMount,
  PreparedPod,
} from './parts.js';
export {
  buildContainerConfig,
  buildSandboxConfig,
  type ContainerIdentity,
  type PodIdentity,
  podDns,
  readContainerIdentity,
  readPodIdentity,
} from './runtime-config/index.js';
export { type Podlet, type PodletConfig, type PodletDependencies, startPodlet } from './podlet.js';
export { noSink, type PodletFaults, type PodletLog, type StatusSink } from './sync/sync-context.js';
export { defaultSettings, type LoopSettings } from './settings.js';
export {
  createCredentials,
  createEnsureImage,
  createImageCollector,
  createPullSecretFiles,
  type FindCredentials,
  type FindPullSecret,
  type ImageCollector,
} from './images/index.js';
export { type CgroupDriver, type CgroupLocation, findCgroupDriver, withPodCgroups } from './cgroups/index.js';
export { createProber } from './probes/index.js';
export { createRunHook, type HookTarget, type RunHook } from './hooks/index.js';
export { type NodeOptions, readNode } from './node/index.js';
export {
  type ContainerLogs,
  createContainerLogs,
  type LogOwner,
  readLogTail,
  type RotationPolicy,
} from './logs/index.js';
