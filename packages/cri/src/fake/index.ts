export type { FakeClock } from './context.js';
export type { Fault } from './faults.js';
export type { FakeExecResult, FakeProgram } from './programs.js';
export { createFakeRuntime, type FakeConditions, type FakeOptions, type FakeRuntime } from './runtime.js';
