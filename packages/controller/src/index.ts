export { type Controller, type ControllerOptions, createController } from './controller.js';
export { evaluateNode, type Sight, type Times, type Verdict } from './judge.js';
export { type ControllerMetrics, renderMetrics } from './metrics.js';
export { runController, type RunOptions } from './run.js';
