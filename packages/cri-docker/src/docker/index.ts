export { Docker } from './client.js';
export { DockerError, DockerTimeoutError, DockerUnreachableError, isConflict, isNotFound } from './error.js';
export { createFrameReader, type Frame } from './multiplex.js';
export { parseTime } from './time.js';
export type * from './types.js';
