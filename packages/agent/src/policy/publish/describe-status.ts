import type { PolicyStatus } from '@podwire/cluster-state';
import type { Revision } from '@podwire/objects';
import { compact } from '@podwire/platform';
import type { PolicyProblem } from '../parts.js';

/** Of a status object: the rest is in the agent's own. */
const mostProblems = 64;
const longestProblem = 1_024;

/** The status for other nodes, and for `podwire apply --wait`. Undefined until something is in force. */
export function describeStatus(
  node: string,
  revision: Revision | undefined,
  problems: readonly PolicyProblem[],
  objects: Revision | undefined,
): PolicyStatus | undefined {
  if (revision === undefined) return undefined;
  const cut = (text: string): string => text.slice(0, longestProblem);
  return {
    node,
    revision,
    problems: problems
      .slice(0, mostProblems)
      .map(({ object, message }) => ({ object: cut(object), message: cut(message) })),
    ...compact({ objects }),
  };
}
