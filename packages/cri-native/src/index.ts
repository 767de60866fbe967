export { createNativeRuntime, type EmbeddedRuntime } from './create.js';
export { hostImage, rootAnnotation } from './images/images.js';
export type { Clock, NativeRuntimeOptions, FaultPoints, Log } from './options.js';
