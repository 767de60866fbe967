export { type ContainerdConfig, renderContainerdConfig } from './config.js';
export { type Containerd, type ContainerdOptions, startContainerd } from './containerd.js';
export {
  type Condition,
  type ContainerSpec,
  createCriClient,
  type CriClient,
  type ExecResult,
  type PortMapping,
  type SandboxSpec,
  type SandboxStatus,
} from './cri.js';
export {
  buildBusyboxImage,
  buildPauseImage,
  busyboxImage,
  type ImageSpec,
  pauseImage,
  writeImage,
  writeTree,
} from './image.js';
export { type TarEntry, writeTar } from './tar.js';
