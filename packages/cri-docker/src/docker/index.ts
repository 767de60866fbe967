export { type AttachOptions, createDocker, type Docker, type ExecOptions, type Filters } from './client.js';
export type { DockerCall } from './connection.js';
export { DockerError, DockerTimeoutError, DockerUnreachableError, isConflict, isNotFound } from './error.js';
export { createFrameReader, type Frame, type FrameStream } from './multiplex.js';
export { parseTime } from './time.js';
export type * from './types.js';
