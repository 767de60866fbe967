export { bandwidthAnnotations, type BandwidthReading, type RateProblem, readBandwidth } from './bandwidth.js';
export { type CniInputs, type CniPod, toCniInputs } from './cni-inputs.js';
