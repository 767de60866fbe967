export { findBlock } from './find-block.js';
export { type AdmissionNode, evaluateAdmission, type Refusal } from './evaluate-admission.js';
export { isNodeCritical, isSystemCritical, rankOf } from './rank.js';
