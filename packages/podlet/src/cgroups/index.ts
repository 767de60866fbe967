export { findCgroupDriver } from './driver.js';
export { type CgroupDriver, type CgroupLocation, formatCgroup, podCgroupParts } from './names.js';
export { type PodCgroupOptions, withPodCgroups } from './pod-cgroups.js';
