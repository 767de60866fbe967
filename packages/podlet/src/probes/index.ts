export { createProber, type ProberLimits } from './prober.js';
export type { ProbeOutcome, ProbeResult } from './outcome.js';
