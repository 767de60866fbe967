export { type Clock, systemClock } from '@podwire/platform';
export type {
  AttachedPod,
  FileStatus,
  NetworkCallOptions,
  NetworkChoice,
  NetworkStatus,
  PodAttachment,
  PodDetachment,
  PodNetwork,
} from './contract.js';
export { explainDirectory, type ExplainOptions } from './explain.js';
export * from './inputs/index.js';
export { adoptAttachments } from './lifecycle/adopt.js';
export type { CallCounter } from './observe/calls.js';
export type { LoopbackMode, PodNetworkOptions, PodNetworkSystem } from './options.js';
export { createPodNetwork, type RunningPodNetwork } from './pod-network.js';
