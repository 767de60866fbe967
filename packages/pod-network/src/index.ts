export type {
  AttachedPod,
  FileVerdict,
  NetworkCallOptions,
  NetworkChoice,
  NetworkStatus,
  PodAttachment,
  PodDetachment,
  PodNetwork,
} from './contract.js';
