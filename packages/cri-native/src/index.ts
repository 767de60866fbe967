export { createEmbeddedRuntime, type EmbeddedRuntime } from './create.js';
export { hostImage, rootAnnotation } from './images/images.js';
export type { Clock, EmbeddedOptions, FaultPoints, Log } from './options.js';
