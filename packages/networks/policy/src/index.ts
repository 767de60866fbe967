export * from './contract.js';
export { usualFailsafes } from './hosts/failsafe.js';
export { createPolicyRenderer } from './renderer.js';
