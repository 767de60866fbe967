/** Steps of a call at which an agent is killed. */
import type { Occurrence } from '@podwire/testkit/fault-injection';

const isLong = process.env['PODWIRE_TEST_LONG'] === '1';

/**
 * In batches, as an agent works, it dies at every step. With every resource alone there are some hundred more, most of them
 * like others: the first and the last of each kind are a sample, and `npm run test:long` goes through all.
 * @param single every resource alone
 */
export const pickSteps = (steps: readonly Occurrence[], single: boolean): readonly Occurrence[] =>
  single && !isLong ? pickEnds(steps) : steps;

/** Kind of a step: `apply:3:route` and `apply:4:route` are alike. */
const kindOf = ({ point }: Occurrence): string => point.replace(/\d+/, '');

function pickEnds(steps: readonly Occurrence[]): Occurrence[] {
  const isFirst = (step: Occurrence): boolean => steps.find((one) => kindOf(one) === kindOf(step)) === step;
  const isLast = (step: Occurrence): boolean =>
    steps.findLast((one) => kindOf(one) === kindOf(step)) === step;
  return steps.filter((step) => isFirst(step) || isLast(step));
}
