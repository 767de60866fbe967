export { type CallOptions, type Control, openControl, type OpenOptions } from './control.js';
export { ControlError, type ControlErrorCode } from './errors.js';
export { findControlSocket } from './socket.js';
export { findOutputs, type TraceOutput } from './trace/outputs.js';
export { readFields } from './trace/fields.js';
export { readTrace } from './trace/read.js';
export type { Resumption, Trace, TraceAction, TraceNote, TracePass, TraceStep } from './trace/types.js';
