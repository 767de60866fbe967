export {
  type ContainerLogs,
  createContainerLogs,
  type LogOwner,
  type RotationPolicy,
} from './container-logs.js';
export { readLogTail } from './read-log-tail.js';
