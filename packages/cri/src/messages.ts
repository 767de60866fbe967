/** The messages of the Container Runtime Interface, generated from `proto/` (`npm run generate -w @podwire/cri`). */
export * from './generated/common.js';
export * from './generated/container.js';
export * from './generated/events.js';
export * from './generated/image.js';
export * from './generated/metrics.js';
export * from './generated/runtime.js';
export * from './generated/sandbox-status.js';
export * from './generated/sandbox.js';
export * from './generated/stats.js';
export * from './generated/streaming.js';
