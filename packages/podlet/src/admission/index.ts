export { findBlock } from './find-block.js';
export { type AdmissionNode, judgeAdmission, type Refusal } from './judge-admission.js';
export { isNodeCritical, isSystemCritical, rankOf } from './rank.js';
