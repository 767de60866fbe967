/**
 * How packets reach blocks of other nodes. `direct`: the nodes' own addresses as next hops, where they share a segment;
 * `vxlan`: always through a tunnel; `vxlan-cross-subnet`: through a tunnel where they do not share one.
 */
export const encapsulations = ['direct', 'vxlan', 'vxlan-cross-subnet'] as const;

export type Encapsulation = (typeof encapsulations)[number];

/** Reports if packets of such a pool ever travel in tunnels. */
export const encapsulates = ({ encapsulation }: { readonly encapsulation?: Encapsulation }): boolean =>
  encapsulation !== undefined && encapsulation !== 'direct';
