/**
 * Encapsulations that people are offered: how packets reach blocks of other nodes. `direct`: the nodes' own addresses as next
 * hops, where they share a segment; `vxlan`: always through a tunnel; `vxlan-cross-subnet`: through a tunnel where they do
 * not share one. A model may have others, and says which.
 */
export const encapsulations = ['direct', 'vxlan', 'vxlan-cross-subnet'] as const;

/** A name as a model has it. */
export type Encapsulation = string;
