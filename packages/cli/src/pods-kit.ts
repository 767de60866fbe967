/** Bringing pods up and down, following and rendering them, for packages that build on `podwire up`. */
export { openAgentApi } from './api/locate.js';
export type { EndpointView } from './api/shapes.js';
export { describePorts, describeRates, formatRate, nameOf } from './commands/pods.js';
export { defaultPluginPath } from './pod-agent/options.js';
export { bringUp, podAgentAnswers, writeOwnNetwork } from './pods/bring-up.js';
export { waitForPods } from './pods/follow.js';
export { openPodApi, placesIn } from './pods/locate.js';
export { fullName } from './pods/names.js';
export { startDaemon } from './pods/processes.js';
export { evaluatePod } from './pods/readiness.js';
export { countReady } from './pods/table.js';
export { tearDownPods } from './pods/teardown.js';
export { type PodTrace, readPodTrace } from './pods/trace.js';
export { renderPodTrace } from './render/pod-trace.js';
export { renderTable } from './render/table.js';
export { formatMilliseconds } from './render/times.js';
export { type Ending, renderEnding } from './testbed/render-ending.js';
export { renderFailures, renderMatrix, renderSummary } from './testbed/render-matrix.js';
