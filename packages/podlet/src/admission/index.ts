export { type AdmissionNode, judgeAdmission, type Refusal } from './judge-admission.js';
export { isSystemCritical, rankOf } from './rank.js';
