export { cableOf, layCable } from './cable.js';
export { OvnCentral, readOvnSchema } from './central.js';
export { OvnCluster, type OvnClusterOptions } from './cluster.js';
export { OvnNode, type OvnNodeOptions, type OvnPodOptions } from './node.js';
