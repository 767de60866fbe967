export { type NodeOptions, readNode } from './read-node.js';
export { resolvConfFile, type ResolvConfPlaces } from './read-node.js';
