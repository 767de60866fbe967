/** Where a resource lives: the node's own network namespace or that of the pod that owns the list. */
export type Place = 'host' | 'pod';
