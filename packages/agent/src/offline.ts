/** Work of people's commands that needs no agent: it knows the resources of all backends, which an agent has no use for. */
export { listAttachedPods } from './attached-pods.js';
export { planWithoutAgent, type SupposedNode } from './plan-alone.js';
export { type NodeChange, restoreNode } from './restore-node.js';
