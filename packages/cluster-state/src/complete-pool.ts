import type { Pool } from './kinds.js';

export type PoolPart = Pick<Pool, 'name' | 'cidr'> & Partial<Pool>;

/** A pool with what most people want where nothing is said. Nothing is checked here. */
export function completePool(part: PoolPart): Pool {
  return {
    network: 'default',
    blockSize: part.cidr.includes(':') ? 122 : 26,
    encapsulation: 'vxlan-cross-subnet',
    natOutgoing: true,
    disabled: false,
    reserved: [],
    nodeSelector: '',
    assignment: 'automatic',
    allocation: 'blocks',
    borrowing: true,
    deleting: false,
    ...part,
  };
}
