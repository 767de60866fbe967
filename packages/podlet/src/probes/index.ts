export { createProber, type ProberLimits } from './prober.js';
export type { ProbeOutcome, ProbeResult } from './probe-state.js';
