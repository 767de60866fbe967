import { completePool, type Pool, type PoolPart } from '@podwire/cluster-state';

/** Without what hides mistakes: no tunnels and no borrowing where a test does not ask for them. */
export const fillPool = (part: PoolPart): Pool =>
  completePool({ encapsulation: 'direct', borrowing: false, ...part });
