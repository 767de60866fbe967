import type { ErrorCode } from '../catalogue.js';
import { clusterSituations } from './cluster.js';
import { nodeSituations } from './node.js';
import { podSituations } from './pod.js';
import type { Situations } from './situation.js';
import { switchSituations } from './switch.js';

export type { Situation } from './situation.js';

/** A code without a situation does not compile. */
export const situations: Readonly<Record<ErrorCode, Situations>> = {
  ...nodeSituations,
  ...podSituations,
  ...clusterSituations,
  ...switchSituations,
};
